# title: Programs that run with their owner's rights
# kind: run
# must: held
# needs: kernel
for path in ("/bin/su", "/usr/bin/sudo", "/usr/bin/passwd", "/usr/bin/chsh", "/bin/mount", "/usr/bin/newuidmap", "/usr/bin/pkexec"):
    try:
        status = os.stat(path)
    except OSError:
        continue
    if not status.st_mode & 0o4000 or status.st_uid == os.getuid():
        continue
    child = os.fork()
    if child == 0:
        os.close(0)
        try:
            # Stopped at its first instruction by nobody: all that counts is whose it becomes.
            os.execv(path, [path, "--help"])
        except OSError:
            os._exit(0)
    for _ in range(200):
        text = read(f"/proc/{child}/status").decode()
        uids = re.search(r"^Uid:\s+(\d+)\s+(\d+)", text, re.M)
        if uids and uids[1] != uids[2]:
            found.append(f"{path} ran as user {uids[2]}")
            break
    os.waitpid(child, 0)
finish()
