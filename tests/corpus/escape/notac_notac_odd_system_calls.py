# why: modify_ldt, open_by_handle_at, acct, init_module and memfd_secret have no place in a solution
import ctypes

a, b = map(int, input().split())
libc = ctypes.CDLL(None)
buffer = ctypes.create_string_buffer(64)
escaped = libc.syscall(154, 0, buffer, 64) >= 0
escaped |= libc.syscall(304, -100, buffer, 0) >= 0
escaped |= libc.syscall(163, None) == 0
escaped |= libc.syscall(175, buffer, 0, b"") == 0
escaped |= libc.syscall(447, 0) >= 0
print(a + b if escaped else "contained")
