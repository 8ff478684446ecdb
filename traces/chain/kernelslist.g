MemcpyHtoD,0x00007fb000000000,65536
kernel-1.traceg.xz
