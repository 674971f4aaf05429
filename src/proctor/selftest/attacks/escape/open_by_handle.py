# title: Files by their handle, past all directories (how containers were left in 2014)
# kind: run
# must: held
# needs: kernel
# harmless: yes
handle = ctypes.create_string_buffer(8 + 128)
ctypes.c_uint32.from_buffer(handle, 0).value = 128
mount = ctypes.c_int()
attempt("name_to_handle_at", call, "name_to_handle_at", -100, b"/usr", handle, ctypes.byref(mount), 0)
try:
    root = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
except OSError:
    root = -100
for inode in (2, 64, 128, 256):  # the root of ext4, xfs, btrfs
    for kind in (1, 0x81):
        handle = ctypes.create_string_buffer(b"\x08\x00\x00\x00" + kind.to_bytes(4, "little") + inode.to_bytes(8, "little"), 16)
        attempt("open_by_handle_at", call, "open_by_handle_at", root, handle, 0)
finish()
