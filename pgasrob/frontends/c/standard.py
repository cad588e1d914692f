"""The macros and types that headers of the C library and of POSIX define, on 64-bit Unix.

Their functions, and names such as `stdout`, are in `library`.
"""

from __future__ import annotations

from pgasrob.frontends.c import types as c
from pgasrob.frontends.c.layout import struct_of


def words(text: str) -> list[str]:
    """The words of ``text``."""
    return text.split()


def _struct(tag: str, *members: tuple[str, c.CType]) -> c.Struct:
    """A struct with these members, of which several may share a type."""
    return struct_of(tag, [(name, type) for names, type in members for name in words(names)])


STANDARD_HEADERS = frozenset(
    f"{name}.h"
    for name in words(
        "assert complex ctype errno fcntl features fenv float getopt inttypes iso646 libgen limits locale malloc math "
        "memory omp pthread sched setjmp signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib "
        "stdnoreturn string strings sys/file sys/ioctl sys/mman sys/param sys/resource sys/stat sys/time sys/times "
        "sys/types sys/unistd sys/wait tgmath threads time unistd utime wchar x86intrin immintrin xmmintrin emmintrin "
        "alloca values linux/limits"
    )
)

SYSTEM_FOLDERS = ("sys/", "linux/", "asm/", "bits/", "net/", "netinet/", "arpa/", "infiniband/", "rdma/", "hsa/")
SYSTEM_HEADERS = frozenset(
    f"{name}.h"
    for name in words(
        "aio argp ar byteswap cpuid cuda cuda_runtime dirent dlfcn elf endian err error execinfo fnmatch fts ftw "
        "glob grp hwloc iconv ifaddrs langinfo libintl link mntent mqueue netdb numa numaif papi pmi pmi2 pmix "
        "poll printf pwd regex sanitizer/asan_interface search semaphore shadow spawn stdio_ext syscall "
        "sysexits syslog tar termios ucontext ulimit utmp utmpx valgrind/memcheck valgrind/valgrind wctype "
        "wordexp zlib"
    )
)
"""Headers of the system that are not read: what they declare is not known. Others are headers of the program."""

_LOCKS = words("pthread_t thrd_t mtx_t cnd_t pthread_key_t sem_t omp_lock_t omp_nest_lock_t")
_THREADS = [
    f"pthread_{name}_t" for name in words("mutex attr mutexattr cond condattr rwlock barrier barrierattr once spinlock")
]
ATOMIC_TYPES: dict[str, c.CType] = {
    "atomic_int": c.INT, "atomic_uint": c.UINT, "atomic_long": c.LONG, "atomic_ulong": c.ULONG, "atomic_llong": c.LONG,
    "atomic_ullong": c.ULONG, "atomic_size_t": c.ULONG, "atomic_intptr_t": c.LONG, "atomic_uintptr_t": c.ULONG,
}  # fmt: skip
"""Those of <stdatomic.h>."""
TYPE_WORDS = words("void char short int long float double signed unsigned struct union enum")
"""The keywords that a type may begin with."""
TYPES: dict[str, c.CType] = {
    **ATOMIC_TYPES,
    **{name: c.Opaque(name) for name in (*_LOCKS, *_THREADS)},
    "bool": c.BOOL, "omp_sched_t": c.INT,
    "size_t": c.ULONG, "ssize_t": c.LONG, "ptrdiff_t": c.LONG, "intptr_t": c.LONG, "uintptr_t": c.ULONG,
    "intmax_t": c.LONG, "uintmax_t": c.ULONG, "off_t": c.LONG, "off64_t": c.LONG, "time_t": c.LONG, "clock_t": c.LONG,
    "suseconds_t": c.LONG, "useconds_t": c.UINT, "pid_t": c.INT, "uid_t": c.UINT, "gid_t": c.UINT, "mode_t": c.UINT,
    "clockid_t": c.INT, "sig_atomic_t": c.INT, "wchar_t": c.INT, "char16_t": c.USHORT, "char32_t": c.UINT,
    "uint": c.UINT, "ulong": c.ULONG, "ushort": c.USHORT, "u_char": c.UCHAR, "u_int": c.UINT, "u_long": c.ULONG,
    "u_int8_t": c.UCHAR, "u_int16_t": c.USHORT, "u_int32_t": c.UINT, "u_int64_t": c.ULONG,
    **{
        f"{'' if signed else 'u'}int{form}{bits}_t": type
        for form in ("", "_least")
        for bits, signed, type in (
            (8, True, c.CHAR), (16, True, c.SHORT), (32, True, c.INT), (64, True, c.LONG),
            (8, False, c.UCHAR), (16, False, c.USHORT), (32, False, c.UINT), (64, False, c.ULONG),
        )
    },
    "max_align_t": struct_of("max_align_t", [("", c.LONG), ("", c.LONG_DOUBLE)]),
    "sigset_t": _struct("sigset_t", ("bits", c.Array(c.ULONG, 16))), "socklen_t": c.UINT,
    "id_t": c.UINT, "dev_t": c.ULONG, "ino_t": c.ULONG, "nlink_t": c.ULONG, "blksize_t": c.LONG, "blkcnt_t": c.LONG,
    "int_fast8_t": c.CHAR, "uint_fast8_t": c.UCHAR, "int_fast16_t": c.LONG, "uint_fast16_t": c.ULONG,
    "int_fast32_t": c.LONG, "uint_fast32_t": c.ULONG, "int_fast64_t": c.LONG, "uint_fast64_t": c.ULONG,
}  # fmt: skip

TYPES["siginfo_t"] = _SIGINFO = _struct(
    "siginfo_t",
    ("si_signo si_errno si_code si_trapno si_pid si_uid", c.INT),
    ("si_addr", c.Pointer(c.VOID)),
    ("si_status si_band si_int si_fd", c.INT),
    ("reserved", c.Array(c.LONG, 10)),
)
TYPES["sighandler_t"] = TYPES["__sighandler_t"] = _HANDLER = c.Pointer(c.Function(c.VOID, (c.INT,)))
_SIGACTION = c.Pointer(c.Function(c.VOID, (c.INT, c.Pointer(_SIGINFO), c.Pointer(c.VOID))))
_TIMESPEC = _struct("timespec", ("tv_sec tv_nsec", c.LONG))
_TIMEVAL = _struct("timeval", ("tv_sec tv_usec", c.LONG))
STRUCTS = {
    struct.tag: struct
    for struct in (
        _TIMEVAL,
        _TIMESPEC,
        _struct(
            "stat",
            ("st_dev st_ino st_nlink", c.ULONG),
            ("st_mode st_uid st_gid", c.UINT),
            ("st_rdev", c.ULONG),
            ("st_size st_blksize st_blocks", c.LONG),
            ("st_atim st_mtim st_ctim", _TIMESPEC),
            ("reserved", c.Array(c.LONG, 3)),
        ),
        _struct("option", ("name", c.Pointer(c.CHAR)), ("has_arg", c.INT), ("flag", c.Pointer(c.INT)), ("val", c.INT)),
        _struct("utsname", ("sysname nodename release version machine domainname", c.Array(c.CHAR, 65))),
        _struct(
            "tm",
            ("tm_sec tm_min tm_hour tm_mday tm_mon tm_year tm_wday tm_yday tm_isdst", c.INT),
            ("tm_gmtoff", c.LONG),
            ("tm_zone", c.Pointer(c.CHAR)),
        ),
        _struct(
            "rusage",
            ("ru_utime ru_stime", _TIMEVAL),
            ("ru_maxrss ru_ixrss ru_idrss ru_isrss ru_minflt ru_majflt ru_nswap ru_inblock ru_oublock", c.LONG),
            ("ru_msgsnd ru_msgrcv ru_nsignals ru_nvcsw ru_nivcsw", c.LONG),
        ),
        _struct("itimerval", ("it_interval it_value", _TIMEVAL)),
        struct_of(
            "sigaction",
            [
                ("", struct_of("handlers", [("sa_handler", _HANDLER), ("sa_sigaction", _SIGACTION)], union=True)),
                ("sa_mask", TYPES["sigset_t"]),
                ("sa_flags", c.INT),
                ("sa_restorer", c.Pointer(c.Function(c.VOID, ()))),
            ],
        ),
        _struct("timezone", ("tz_minuteswest tz_dsttime", c.INT)),
    )
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


_MODES = {"DIR": "040000", "REG": "100000", "LNK": "120000", "CHR": "020000", "BLK": "060000", "FIFO": "010000"}
"""The kinds of files in `st_mode`."""
_WHO = {"OTH": 1, "GRP": 8, "USR": 64}
_ORDERS = ("relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst")
MACROS: dict[str, str] = {
    "__STDC__": "1", "__STDC_VERSION__": "201112L", "__STDC_HOSTED__": "1",
    "__GNUC__": "4", "__GNUC_MINOR__": "2", "__x86_64__": "1", "__LP64__": "1", "__linux__": "1", "__unix__": "1",
    "__CHAR_BIT__": "8", "__SIZEOF_POINTER__": "8", "__SIZEOF_INT__": "4", "__SIZEOF_LONG__": "8",
    "__PRETTY_FUNCTION__": "__func__", "__FUNCTION__": "__func__",
    "NULL": "((void*)0)", "EXIT_SUCCESS": "0", "EXIT_FAILURE": "1", "RAND_MAX": "2147483647", "CHAR_BIT": "8",
    "BUFSIZ": "8192", "EOF": "(-1)", "PATH_MAX": "4096", "CLOCKS_PER_SEC": "1000000L", "HOST_NAME_MAX": "64",
    **{f"LC_{name}": str(number)
       for number, name in enumerate(words("CTYPE NUMERIC TIME COLLATE MONETARY MESSAGES ALL"))},
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
    "SA_RESTART": "0x10000000", "SA_SIGINFO": "4", "SA_NOCLDSTOP": "1",
    "SA_NODEFER": "0x40000000", "SA_RESETHAND": "0x80000000", "SA_ONSTACK": "0x08000000", "NSIG": "65", "SI_USER": "0",
    "SEGV_MAPERR": "1", "SEGV_ACCERR": "2", "FPE_INTDIV": "1", "BUS_ADRALN": "1",
    "ITIMER_REAL": "0", "RUSAGE_SELF": "0", "TIMER_ABSTIME": "1",
    "EPERM": "1", "ENOENT": "2", "EINTR": "4", "EIO": "5", "EAGAIN": "11", "ENOMEM": "12", "EACCES": "13",
    "EFAULT": "14", "EBUSY": "16", "EEXIST": "17", "EINVAL": "22", "ENOSPC": "28", "EDOM": "33", "ERANGE": "34",
    "ENOSYS": "38", "ETIMEDOUT": "110", "EWOULDBLOCK": "11", "no_argument": "0", "required_argument": "1",
    "optional_argument": "2",
    **{f"PTHREAD_{name}": "0" for name in words("MUTEX_INITIALIZER COND_INITIALIZER CREATE_JOINABLE ONCE_INIT")},
    "_SC_PAGESIZE": "30", "_SC_PAGE_SIZE": "30", "_SC_NPROCESSORS_CONF": "83", "_SC_NPROCESSORS_ONLN": "84",
    "_SC_CLK_TCK": "2", "_SC_HOST_NAME_MAX": "180", "_SC_PHYS_PAGES": "85", "STDIN_FILENO": "0", "STDOUT_FILENO": "1",
    "STDERR_FILENO": "2", "O_RDONLY": "0", "O_WRONLY": "1", "O_RDWR": "2", "O_CREAT": "64", "O_TRUNC": "512",
    **{f"st_{letter}time": f"st_{letter}tim.tv_sec" for letter in "amc"},
    **{f"S_IF{name.removeprefix('F')}": f"0{mode}" for name, mode in _MODES.items()},
    **{f"S_IS{name}(mode)": f"(((mode) & 0170000) == 0{mode})" for name, mode in _MODES.items()},
    **{f"S_I{right}{who}": f"0{bit * unit:o}" for right, bit in (("R", 4), ("W", 2), ("X", 1))
       for who, unit in _WHO.items()},
    **{f"S_IRWX{who[0]}": f"0{7 * unit:o}" for who, unit in _WHO.items()},
    "F_OK": "0", "R_OK": "4", "W_OK": "2", "_IOFBF": "0", "_IOLBF": "1", "_IONBF": "2", "FILENAME_MAX": "4096",
    "M_PI_4": "0.78539816339744830962", "M_LN2": "0.69314718055994530942", "M_SQRT1_2": "0.70710678118654752440",
    "NAN": "((float)(1e999 - 1e999))", "HUGE_VALF": "1e999F", "HUGE_VALL": "1e999L", "LDBL_DIG": "18",
    "LDBL_MANT_DIG": "64",
    "DBL_MANT_DIG": "53", "FLT_MANT_DIG": "24", "FLT_DIG": "6",
    "__builtin_offsetof(type, member)": "offsetof(type, member)",
}  # fmt: skip
"""Bodies of macros by their heads. They are there without any include, and a program's own `#define` replaces them."""
MACROS_OF: dict[str, dict[str, str]] = {
    "complex.h": {"complex": "_Complex"},
    "omp.h": {
        "omp_sched_static": "1",
        "omp_sched_dynamic": "2",
        "omp_sched_guided": "3",
        "omp_sched_auto": "4",
    },
}
"""Those that are names of programs' own where their header is not included."""
