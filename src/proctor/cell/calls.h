/* System calls by number, and which of them a cell must not make. Included once, by lockdown.c. */

/* Calls newer than some headers; from 424 on every architecture has the same numbers. */
enum {
    NR_pidfd_send_signal = 424, NR_io_uring_setup, NR_io_uring_enter, NR_io_uring_register,
    NR_open_tree, NR_move_mount, NR_fsopen, NR_fsconfig, NR_fsmount, NR_fspick, NR_pidfd_open,
    NR_clone3, NR_close_range, NR_pidfd_getfd = 438, NR_process_madvise = 440,
    NR_mount_setattr = 442, NR_quotactl_fd = 443, NR_landlock_create_ruleset = 444,
    NR_landlock_add_rule, NR_landlock_restrict_self, NR_memfd_secret, NR_process_mrelease,
    NR_futex_waitv, NR_set_mempolicy_home_node, NR_cachestat, NR_fchmodat2, NR_futex_wake = 454,
    NR_futex_wait, NR_futex_requeue, NR_statmount, NR_listmount,
    NR_lsm_get_self_attr, NR_lsm_set_self_attr, NR_lsm_list_modules, NR_setxattrat = 463,
    NR_getxattrat, NR_listxattrat, NR_removexattrat, NR_open_tree_attr, NR_file_getattr,
    NR_file_setattr,
    NR_FIRST_UNKNOWN, /* whoever raises this must have looked at what the kernel has added */
};

/* Denied to jobs and agent alike. mount, unshare, setns and capset are missing from the list
 * because the agent needs them; a job has no capability left to use them with. */
static const int DENIED[] = {
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_bpf,
    SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon,
    SYS_swapoff, SYS_acct, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
    SYS_quotactl, SYS_syslog, SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_fanotify_init,
    SYS_personality, SYS_move_pages, SYS_mbind, SYS_set_mempolicy, SYS_migrate_pages,
    SYS_vmsplice, SYS_lookup_dcookie, SYS_nfsservctl, SYS_vhangup, SYS_sethostname,
    SYS_setdomainname, SYS_pivot_root, SYS_chroot, SYS_umount2, SYS_setpriority, SYS_ioprio_set,
    SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr,
    /* System V and POSIX queues, segments, semaphores: they would outlive one test of a job, and
     * without an IPC namespace they are everybody's. Also calls that take an id: it can be guessed. */
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl,
    SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_mq_open, SYS_mq_unlink,
    /* Attributes of an input file would be a note to the next program that reads it. */
    SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, NR_setxattrat, NR_file_setattr,
    SYS_sync, SYS_syncfs, /* would write out what anybody on this machine has written */
    SYS_io_setup, /* its requests are counted for the whole machine (fs.aio-max-nr) */
    /* Tell who else reads the files that all cells share, and which of their pages have been read. */
    SYS_inotify_init1, SYS_inotify_add_watch, SYS_mincore, NR_cachestat,
    NR_io_uring_setup, NR_io_uring_enter, NR_io_uring_register, NR_open_tree, NR_move_mount,
    NR_fsopen, NR_fsconfig, NR_fsmount, NR_fspick, NR_pidfd_getfd, NR_process_madvise,
    NR_mount_setattr, NR_quotactl_fd, NR_set_mempolicy_home_node, NR_memfd_secret, NR_process_mrelease,
    NR_open_tree_attr, NR_statmount, NR_listmount, NR_lsm_get_self_attr,
    NR_lsm_set_self_attr, NR_lsm_list_modules,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef __x86_64__
    SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_ustat, SYS__sysctl, SYS_inotify_init,
#endif
};

/* Also denied where files are in sight that belong to our user and outlive a job. Landlock restricts
 * none of these calls, except as noted. */
static const int DENIED_ON_SHARED_FILES[] = {
    /* A program could open them to everybody, make them unusable, or leave a note. */
    SYS_fchmod, SYS_fchmodat, NR_fchmodat2, SYS_fchown, SYS_fchownat, SYS_utimensat,
    SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, NR_removexattrat, SYS_flock,
    SYS_truncate, /* Landlock restricts it only from ABI 3 on */
#ifdef __x86_64__
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
};

/* Also denied where the host's files, sockets and processes are in sight, because no namespace hides
 * them. Landlock restricts none of these calls. */
static const int DENIED_OUTSIDE_A_BOX[] = {
    SYS_mount, SYS_unshare, SYS_setns,
    /* Attributes of a file are content. */
    SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr, NR_getxattrat, SYS_listxattr, SYS_llistxattr,
    SYS_flistxattr, NR_listxattrat,
    /* A socket in the file system (of a desktop, a container engine) is a way out. Pairs stay allowed. */
    SYS_socket, SYS_connect, SYS_bind, SYS_listen,
};

/* Calls whose first argument names a process: only "myself" (0) is allowed. */
static const int SELF_ONLY[] = { SYS_prlimit64, SYS_sched_setaffinity };
static const int SELF_ONLY_OUTSIDE_A_BOX[] = {
    SYS_sched_getparam, SYS_sched_getscheduler, SYS_sched_getattr, SYS_sched_rr_get_interval,
};

/* All that ioctl may do outside a box. The rest acts on files that are open for reading (attributes of
 * ext4, snapshots of btrfs, verity, keys), and Landlock stops none of it on files and directories. */
static const uint32_t IOCTLS_OUTSIDE_A_BOX[] = {
    TCGETS, 0x802c542a /* TCGETS2 */, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO, FIOASYNC, FIOCLEX, FIONCLEX,
};
