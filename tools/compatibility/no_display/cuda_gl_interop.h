// Empty: for programs that include the header and use nothing of it.
