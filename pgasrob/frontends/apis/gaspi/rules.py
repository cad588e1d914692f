"""The rules of GASPI about which calls are allowed where (17.1), as far as they are checked.

Sections are named by the routine.
"""

from __future__ import annotations

from pgasrob.program.illegal_calls import Rule

NO_SEGMENT = Rule(
    "gaspi-no-segment",
    "a segment is used after it has been created, and before it is deleted",
    "GASPI 17.1, gaspi_segment_create",
    "create the segment before, and delete it after its last use",
)
NOT_REGISTERED = Rule(
    "gaspi-not-registered",
    "a segment is accessed by ranks with which its rank has registered it",
    "GASPI 17.1, gaspi_segment_register",
    "call gaspi_segment_register for each rank that accesses it, or create the segment with gaspi_segment_create",
)
NO_QUEUE = Rule(
    "gaspi-no-queue",
    "operations are posted to existing queues",
    "GASPI 17.1, gaspi_queue_create",
    "use a queue below gaspi_queue_num, or create one with gaspi_queue_create",
)
NOTIFICATION_NUMBER = Rule(
    "gaspi-notification-number",
    "the number of a notification is below gaspi_notification_num, 65,536 unless it is configured",
    "GASPI 17.1, gaspi_notify_waitsome",
    "number notifications from 0 on",
)
NOTIFICATION_VALUE = Rule(
    "gaspi-notification-value",
    "a notification has a value above 0: 0 stands for no notification",
    "GASPI 17.1, gaspi_notify",
    "notify with 1 or more",
)
NOT_RUNNING = Rule(
    "gaspi-not-initialized",
    "segments, queues and similar objects are used after gaspi_proc_init and before gaspi_proc_term",
    "GASPI 17.1, gaspi_proc_init",
    "call gaspi_proc_init first and gaspi_proc_term last",
)
