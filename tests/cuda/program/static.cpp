// Loads no library at all.
int main() { return 0; }
