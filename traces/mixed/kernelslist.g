MemcpyHtoD,0x00007fc000000000,1048576
kernel-1.traceg.xz
kernel-2.traceg.xz
kernel-3.traceg.xz
