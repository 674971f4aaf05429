# title: Names of the host's files, of which only the names are asked for
# kind: run
# must: held
# needs: filesystem
# harmless: yes
for path in bait["files"]:
    for ask in (os.stat, os.lstat, os.readlink, os.statvfs, lambda p: os.listdir(os.path.dirname(p))):
        attempt(f"{path} was seen", ask, path)
    if os.access(path, os.F_OK):
        found.append(f"{path} was seen")
    # Refused is an answer, too: only what is there can be refused
    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_PATH, os.O_PATH | os.O_DIRECTORY):
        try:
            os.close(os.open(path, flags))
            found.append(f"{path} was seen")
        except PermissionError:
            try:
                os.open(path + "-none", flags)
            except FileNotFoundError:
                found.append(f"{path} was told from a file that is not there")
            except OSError:
                pass
        except OSError:
            pass
finish()
