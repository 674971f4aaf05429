# title: Disks, memory, KVM, FUSE, tun and other devices
# kind: run
# must: held
# needs: filesystem
# harmless: yes
names = ["mem", "kmem", "port", "kmsg", "kvm", "fuse", "net/tun", "loop-control", "loop0", "sda", "vda", "nvme0n1",
         "vhost-net", "vsock", "uinput", "input/event0", "snapshot", "ptmx", "console", "hpet", "cuse", "rfkill", "dri/card0",
         "nvidia0", "userfaultfd", "autofs", "btrfs-control", "mapper/control", "udmabuf", "dma_heap/system"]
for name in names:
    for flags in (os.O_RDONLY, os.O_RDWR):
        try:
            os.close(os.open(f"/dev/{name}", flags | os.O_NONBLOCK | os.O_NOCTTY))
            found.append(f"/dev/{name} opened")
        except OSError:
            pass
finish()
