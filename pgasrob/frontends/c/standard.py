"""What the headers of the C library and of POSIX define as macros and types, on 64-bit Unix.

Their functions, and names such as `stdout`, are in `library`.
"""

from __future__ import annotations

from pgasrob.frontends.c.layout import struct_of
from pgasrob.frontends.c.types import (
    BOOL,
    CHAR,
    INT,
    LONG,
    LONG_DOUBLE,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    VOID,
    Array,
    CType,
    Field,
    Function,
    Pointer,
    Struct,
)


def words(text: str) -> list[str]:
    """The words of ``text``."""
    return text.split()


STANDARD_HEADERS = frozenset(
    f"{name}.h"
    for name in words(
        "assert complex ctype errno fcntl features fenv float getopt inttypes iso646 libgen limits locale malloc math "
        "memory sched setjmp signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string "
        "strings sys/file sys/ioctl sys/mman sys/param sys/resource sys/stat sys/time sys/times sys/types sys/unistd "
        "sys/wait tgmath time unistd utime wchar x86intrin immintrin xmmintrin emmintrin alloca values linux/limits"
    )
)

SYSTEM_FOLDERS = ("sys/", "linux/", "asm/", "bits/", "net/", "netinet/", "arpa/", "infiniband/", "rdma/", "hsa/")
SYSTEM_HEADERS = frozenset(
    f"{name}.h"
    for name in words(
        "aio argp ar byteswap cpuid cuda cuda_runtime dirent dlfcn elf endian err error execinfo fnmatch fts ftw "
        "glob grp hwloc iconv ifaddrs langinfo libintl link mntent mqueue netdb numa numaif papi pmi pmi2 pmix "
        "poll printf pwd regex sanitizer/asan_interface search semaphore shadow spawn stdio_ext syscall sysexits "
        "syslog tar termios ucontext ulimit utmp utmpx valgrind/memcheck valgrind/valgrind wctype wordexp zlib"
    )
)
"""Headers of the system that are not read: what they declare is not known. Others are headers of the program."""

TYPES: dict[str, CType] = {
    "bool": BOOL,
    "size_t": ULONG, "ssize_t": LONG, "ptrdiff_t": LONG, "intptr_t": LONG, "uintptr_t": ULONG,
    "intmax_t": LONG, "uintmax_t": ULONG, "off_t": LONG, "off64_t": LONG, "time_t": LONG, "clock_t": LONG,
    "suseconds_t": LONG, "useconds_t": UINT, "pid_t": INT, "uid_t": UINT, "gid_t": UINT, "mode_t": UINT,
    "clockid_t": INT, "sig_atomic_t": INT, "wchar_t": INT, "char16_t": USHORT, "char32_t": UINT,
    "uint": UINT, "ulong": ULONG, "ushort": USHORT, "u_char": UCHAR, "u_int": UINT, "u_long": ULONG,
    "u_int8_t": UCHAR, "u_int16_t": USHORT, "u_int32_t": UINT, "u_int64_t": ULONG,
    **{
        f"{'' if signed else 'u'}int{form}{bits}_t": type
        for form in ("", "_least")
        for bits, signed, type in (
            (8, True, CHAR), (16, True, SHORT), (32, True, INT), (64, True, LONG),
            (8, False, UCHAR), (16, False, USHORT), (32, False, UINT), (64, False, ULONG),
        )
    },
    "max_align_t": Struct("max_align_t", (Field("", LONG, 0), Field("", LONG_DOUBLE, 16)), 32, 16),
    "sigset_t": Struct("sigset_t", (Field("bits", Array(ULONG, 16), 0),), 128, 8), "socklen_t": UINT, "id_t": UINT,
    "int_fast8_t": CHAR, "uint_fast8_t": UCHAR, "int_fast16_t": LONG, "uint_fast16_t": ULONG,
    "int_fast32_t": LONG, "uint_fast32_t": ULONG, "int_fast64_t": LONG, "uint_fast64_t": ULONG,
}  # fmt: skip

_TIMEVAL = Struct("timeval", (Field("tv_sec", LONG, 0), Field("tv_usec", LONG, 8)), 16, 8)
_SET = Struct("sigset_t", (Field("bits", Array(ULONG, 16), 0),), 128, 8)
STRUCTS = {
    "timeval": _TIMEVAL,
    "timespec": Struct("timespec", (Field("tv_sec", LONG, 0), Field("tv_nsec", LONG, 8)), 16, 8),
    "option": struct_of("option", [("name", Pointer(CHAR)), ("has_arg", INT), ("flag", Pointer(INT)), ("val", INT)]),
    "utsname": struct_of(
        "utsname", [(name, Array(CHAR, 65)) for name in words("sysname nodename release version machine domainname")]
    ),
    "tm": struct_of(
        "tm",
        [
            *((f"tm_{name}", INT) for name in words("sec min hour mday mon year wday yday isdst")),
            ("tm_gmtoff", LONG),
            ("tm_zone", Pointer(CHAR)),
        ],
    ),
    "rusage": struct_of(
        "rusage",
        [
            ("ru_utime", _TIMEVAL),
            ("ru_stime", _TIMEVAL),
            *(
                (f"ru_{name}", LONG)
                for name in words(
                    "maxrss ixrss idrss isrss minflt majflt nswap inblock oublock msgsnd msgrcv nsignals nvcsw nivcsw"
                )
            ),
        ],
    ),
    "itimerval": struct_of("itimerval", [("it_interval", _TIMEVAL), ("it_value", _TIMEVAL)]),
    "sigaction": struct_of(
        "sigaction",
        [
            ("sa_handler", Pointer(Function(VOID, (INT,)))),
            ("sa_mask", _SET),
            ("sa_flags", INT),
            ("sa_restorer", Pointer(Function(VOID, ()))),
        ],
    ),
    "timezone": Struct("timezone", (Field("tz_minuteswest", INT, 0), Field("tz_dsttime", INT, 4)), 8, 4),
}


def _limits(name: str, bits: int, suffix: str) -> dict[str, str]:
    """`NAME_MIN`, `NAME_MAX` and `UNAME_MAX` with the types that C gives them."""
    highest = (1 << (bits - 1)) - 1
    unsigned = suffix if bits < 32 else f"U{suffix}"
    return {
        f"{name}_MAX": f"{highest}{suffix}",
        f"{name}_MIN": f"(-{highest}{suffix}-1)",
        f"U{name}_MAX": f"{2 * highest + 1}{unsigned}",
    }


def _formats() -> dict[str, str]:
    lengths = {"8": "hh", "16": "h", "32": "", "64": "l", "MAX": "l", "PTR": "l"}
    return {
        f"{kind}{letter}{form}{bits}": f'"{length}{letter}"'
        for kind in ("PRI", "SCN")
        for letter in "diouxX"
        for form in ("", "LEAST", "FAST")
        for bits, length in lengths.items()
        if not (form and bits in ("MAX", "PTR"))
    }


_ORDERS = ("relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst")
MACROS: dict[str, str] = {
    "__STDC__": "1", "__STDC_VERSION__": "201112L", "__STDC_HOSTED__": "1", "__STDC_NO_THREADS__": "1",
    "__GNUC__": "4", "__GNUC_MINOR__": "2", "__x86_64__": "1", "__LP64__": "1", "__linux__": "1", "__unix__": "1",
    "__CHAR_BIT__": "8", "__SIZEOF_POINTER__": "8", "__SIZEOF_INT__": "4", "__SIZEOF_LONG__": "8",
    "__PRETTY_FUNCTION__": "__func__", "__FUNCTION__": "__func__",
    "NULL": "((void*)0)", "EXIT_SUCCESS": "0", "EXIT_FAILURE": "1", "RAND_MAX": "2147483647", "CHAR_BIT": "8",
    "BUFSIZ": "8192", "EOF": "(-1)", "PATH_MAX": "4096", "CLOCKS_PER_SEC": "1000000L", "HOST_NAME_MAX": "64",
    "SEEK_SET": "0", "SEEK_CUR": "1", "SEEK_END": "2",
    "SCHAR_MAX": "127", "SCHAR_MIN": "(-128)", "UCHAR_MAX": "255", "CHAR_MAX": "127", "CHAR_MIN": "(-128)",
    "SHRT_MAX": "32767", "SHRT_MIN": "(-32768)", "USHRT_MAX": "65535",
    **_limits("INT", 32, ""), **_limits("LONG", 64, "L"), **_limits("LLONG", 64, "LL"),
    **_limits("INT8", 8, ""), **_limits("INT16", 16, ""), **_limits("INT32", 32, ""), **_limits("INT64", 64, "L"),
    **_limits("INTMAX", 64, "L"), **_limits("INTPTR", 64, "L"),
    "SIZE_MAX": "18446744073709551615UL", "SSIZE_MAX": "9223372036854775807L",
    "PTRDIFF_MAX": "9223372036854775807L", "PTRDIFF_MIN": "(-9223372036854775807L-1)",
    **{f"INT{bits}_C(c)": suffix for bits, suffix in ((8, "c"), (16, "c"), (32, "c"), (64, "c ## L"))},
    **{f"UINT{bits}_C(c)": suffix for bits, suffix in ((8, "c"), (16, "c"), (32, "c ## U"), (64, "c ## UL"))},
    "INTMAX_C(c)": "c ## L", "UINTMAX_C(c)": "c ## UL",
    **_formats(),
    "DBL_MAX": "1.7976931348623157e308", "DBL_MIN": "2.2250738585072014e-308", "DBL_EPSILON": "2.2204460492503131e-16",
    "FLT_MAX": "3.40282346638528859812e38F", "FLT_MIN": "1.17549435082228750797e-38F", "DBL_DIG": "15",
    "FLT_EPSILON": "1.19209289550781250000e-7F", "M_PI": "3.14159265358979323846", "M_E": "2.7182818284590452354",
    "M_PI_2": "1.57079632679489661923", "M_SQRT2": "1.41421356237309504880", "HUGE_VAL": "1e999", "INFINITY": "1e999F",
    **{f"__ATOMIC_{order.upper()}": str(number) for number, order in enumerate(_ORDERS)},
    **{f"memory_order_{order}": str(number) for number, order in enumerate(_ORDERS)},
    "static_assert": "_Static_assert", "alignas": "_Alignas", "alignof": "_Alignof",
    "__builtin_expect(value, expected)": "(value)",
    "va_start(list, last)": "((void)0)", "va_end(list)": "((void)0)", "va_copy(to, from)": "((void)0)",
    "CLOCK_REALTIME": "0", "CLOCK_MONOTONIC": "1", "CLOCK_PROCESS_CPUTIME_ID": "2", "CLOCK_MONOTONIC_RAW": "4",
    **{f"SIG{name}": str(number) for name, number in zip(
        words("HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM"), range(1, 16), strict=True)},
    "SIGCHLD": "17", "SIGCONT": "18", "SIGSTOP": "19", "SIG_BLOCK": "0", "SIG_UNBLOCK": "1", "SIG_SETMASK": "2",
    "SIG_DFL": "((void (*)(int))0)", "SIG_IGN": "((void (*)(int))1)", "SIG_ERR": "((void (*)(int))-1)",
    "SA_RESTART": "0x10000000", "SA_SIGINFO": "4", "ITIMER_REAL": "0", "RUSAGE_SELF": "0", "TIMER_ABSTIME": "1",
    "EPERM": "1", "ENOENT": "2", "EINTR": "4", "EIO": "5", "EAGAIN": "11", "ENOMEM": "12", "EACCES": "13",
    "EFAULT": "14", "EBUSY": "16", "EEXIST": "17", "EINVAL": "22", "ENOSPC": "28", "EDOM": "33", "ERANGE": "34",
    "ENOSYS": "38", "ETIMEDOUT": "110", "EWOULDBLOCK": "11", "no_argument": "0", "required_argument": "1",
    "optional_argument": "2",
    "_SC_PAGESIZE": "30", "_SC_PAGE_SIZE": "30", "_SC_NPROCESSORS_CONF": "83", "_SC_NPROCESSORS_ONLN": "84",
    "_SC_CLK_TCK": "2", "_SC_HOST_NAME_MAX": "180", "_SC_PHYS_PAGES": "85", "STDIN_FILENO": "0", "STDOUT_FILENO": "1",
    "STDERR_FILENO": "2", "O_RDONLY": "0", "O_WRONLY": "1", "O_RDWR": "2", "O_CREAT": "64", "O_TRUNC": "512",
    "F_OK": "0", "R_OK": "4", "W_OK": "2", "_IOFBF": "0", "_IOLBF": "1", "_IONBF": "2", "FILENAME_MAX": "4096",
    "M_PI_4": "0.78539816339744830962", "M_LN2": "0.69314718055994530942", "M_SQRT1_2": "0.70710678118654752440",
    "NAN": "((float)(1e999 - 1e999))", "HUGE_VALF": "1e999F", "HUGE_VALL": "1e999L", "LDBL_DIG": "18",
    "LDBL_MANT_DIG": "64",
    "DBL_MANT_DIG": "53", "FLT_MANT_DIG": "24", "FLT_DIG": "6",
    "__builtin_offsetof(type, member)": "offsetof(type, member)",
}  # fmt: skip
"""Bodies of macros by their heads. They are there without any include, and a program's own `#define` replaces them."""
