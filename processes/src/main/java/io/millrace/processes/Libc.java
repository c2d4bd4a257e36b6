package io.millrace.processes;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;

/**
 * Functions of the C library for which Java has no methods: signals to groups, ends of children,
 * starts by {@code posix_spawn}, and whether files are open. For Linux with 64 bits and glibc from
 * 2.34 on. The first use takes some 0.2 s of a processor, so it is for frequent callers. Safe for
 * use by any number of threads.
 */
final class Libc {
  private static final AddressLayout POINTER = ValueLayout.ADDRESS;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final List<MemoryLayout> ONE = List.of(POINTER);
  private static final List<MemoryLayout> TWO = List.of(POINTER, POINTER);
  private static final List<MemoryLayout> NUMBERED = List.of(POINTER, INT);
  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option KEEP_ERRNO = Linker.Option.captureCallState("errno");
  private static final MemoryLayout KEPT = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      KEPT.varHandle(MemoryLayout.PathElement.groupElement("errno"));
  private static final int EINTR = 4;

  private static final MethodHandle KILL = function("kill", List.of(INT, INT));
  private static final MethodHandle OPEN_FILE = function("open", List.of(POINTER, INT));
  private static final MethodHandle CONTROL =
      function("fcntl", List.of(INT, INT, INT), Linker.Option.firstVariadicArg(2));
  private static final MethodHandle TRUNCATE =
      function("ftruncate", List.of(INT, ValueLayout.JAVA_LONG));
  private static final MethodHandle CLOSE = function("close", List.of(INT));
  private static final MethodHandle WAITID =
      function("waitid", List.of(INT, INT, POINTER, INT), KEEP_ERRNO);

  private static final int WRITE_CLOSE_ON_EXEC = 1 | 02000000;
  private static final int NO_WAIT = 04000;
  private static final int SET_SIGNAL = 10;
  private static final int SET_LEASE = 1024;
  private static final int WRITE_LEASE = 1;
  private static final int NO_LEASE = 2;
  private static final int SIGURG = 23;

  // Parts of siginfo_t, which is 128 bytes on every system of this kind.
  private static final int SIGINFO_BYTES = 128;
  private static final int SI_CODE = 8;
  private static final int SI_STATUS = 24;
  private static final int CLD_EXITED = 1;
  private static final int P_PID = 1;
  private static final int WEXITED = 4;
  private static final int WNOWAIT = 0x01000000;

  private static final String ATTRIBUTE = "posix_spawnattr_";
  private static final String ACTION = "posix_spawn_file_actions_";
  private static final int SETPGROUP = 0x02;
  private static final int SETSIGMASK = 0x08;
  private static final int RIGHTS = 0666;
  // More than any system takes for these; on glibc they are 336, 80 and 128 bytes.
  private static final int OPAQUE_BYTES = 1024;
  private static final MethodHandle SPAWN =
      function("posix_spawn", Collections.nCopies(6, POINTER));
  private static final MethodHandle INIT = function(ACTION + "init", ONE);
  private static final MethodHandle DESTROY = function(ACTION + "destroy", ONE);
  private static final MethodHandle OPEN =
      function(ACTION + "addopen", List.of(POINTER, INT, POINTER, INT, INT));
  private static final MethodHandle CHDIR = function(ACTION + "addchdir_np", TWO);
  private static final MethodHandle CLOSE_FROM = function(ACTION + "addclosefrom_np", NUMBERED);
  private static final MemorySegment ATTRIBUTES = attributes();

  private Libc() {}

  /** A function that returns an int and has these parameters. */
  @SuppressWarnings("restricted") // Says that a wrong description ends the JVM: each has a test.
  private static MethodHandle function(
      String name, List<MemoryLayout> parameters, Linker.Option... options) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name),
        FunctionDescriptor.of(INT, parameters.toArray(MemoryLayout[]::new)),
        options);
  }

  private static AssertionError impossible(Throwable e) {
    return new AssertionError("a function of C throws nothing", e);
  }

  /** Sends a signal, or only checks if it is 0; false if there was no process to receive it. */
  static boolean kill(int whom, int signal) {
    try {
      return (int) KILL.invokeExact(whom, signal) == 0;
    } catch (Throwable e) {
      throw impossible(e);
    }
  }

  /**
   * Waits for the end of a child, which stays a zombie, so that its pid and group are not reused.
   *
   * @return its exit code, or 128 and the signal that ended it; -1 if it is no longer a child
   */
  static int awaitEnd(int pid) {
    return await(pid, WEXITED | WNOWAIT);
  }

  /** Waits for the end of a child and releases its pid. */
  static void reap(int pid) {
    await(pid, WEXITED);
  }

  private static int await(int pid, int options) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment kept = arena.allocate(KEPT);
      MemorySegment info = arena.allocate(SIGINFO_BYTES, Long.BYTES);
      while ((int) WAITID.invokeExact(kept, P_PID, pid, info, options) != 0) {
        if ((int) ERRNO.get(kept, 0L) != EINTR) {
          return -1;
        }
      }
      int status = info.get(INT, SI_STATUS);
      return info.get(INT, SI_CODE) == CLD_EXITED ? status : 128 + status;
    } catch (Throwable e) {
      throw impossible(e);
    }
  }

  /**
   * Empties a file unless a process has it open. The system grants a lease for writing only on a
   * file that nobody else has open, on file systems that know leases.
   *
   * @param file no symbolic link
   * @return whether it is empty now and was not open; false also if that cannot be told
   */
  static boolean emptyUnlessOpen(Path file) {
    try (Arena arena = Arena.ofConfined()) {
      int opened = (int) OPEN_FILE.invokeExact(text(arena, file), WRITE_CLOSE_ON_EXEC | NO_WAIT);
      if (opened < 0) {
        return false;
      }
      try {
        // Whoever opens it in this moment waits, and this process gets a signal, here one that is
        // ignored: the usual one would end it.
        return control(opened, SET_SIGNAL, SIGURG)
            && control(opened, SET_LEASE, WRITE_LEASE)
            && control(opened, SET_LEASE, NO_LEASE)
            && (int) TRUNCATE.invokeExact(opened, 0L) == 0;
      } finally {
        int _ = (int) CLOSE.invokeExact(opened);
      }
    } catch (Throwable e) {
      throw impossible(e);
    }
  }

  private static boolean control(int opened, int command, int value) throws Throwable {
    return (int) CONTROL.invokeExact(opened, command, value) == 0;
  }

  /** How a file is opened as a descriptor. */
  enum Mode {
    /** For reading. */
    READ(0),
    /** For writing at its end; created if it does not exist. */
    APPEND(1 | 64 | 1024),
    /** For writing from its start, emptied; created if it does not exist. */
    WRITE(1 | 64 | 512);

    private final int flags;

    Mode(int flags) {
      this.flags = flags;
    }
  }

  /** A file and the mode in which it is opened. */
  record Opened(Path file, Mode mode) {}

  /**
   * What is started.
   *
   * @param file the program
   * @param words its name for itself and its arguments
   * @param environment {@code NAME=VALUE} each
   * @param directory its working directory
   * @param streams its standard input, output and error
   */
  record Program(
      Path file,
      List<String> words,
      List<byte[]> environment,
      Path directory,
      List<Opened> streams) {}

  /**
   * Starts a program by {@code posix_spawn}: no copy of this process and no other program in
   * between. The new process leads a group of its own in this process's session, has no descriptors
   * but the three, and no signal blocked; signals that this process handles have their default
   * action in it.
   *
   * @return its pid; or the error number, negative, if it cannot be started; nothing is left then
   */
  static int spawn(Program program) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment actions = arena.allocate(OPAQUE_BYTES, 16);
      MemorySegment pid = arena.allocate(INT);
      int failure = (int) INIT.invokeExact(actions);
      if (failure != 0) {
        return -failure;
      }
      try {
        failure = describe(program, actions, arena);
        if (failure == 0) {
          MemorySegment file = text(arena, program.file());
          MemorySegment words = pointers(arena, program.words().stream().map(Libc::bytes).toList());
          MemorySegment environment = pointers(arena, program.environment());
          failure = (int) SPAWN.invokeExact(pid, file, actions, ATTRIBUTES, words, environment);
        }
      } finally {
        int _ = (int) DESTROY.invokeExact(actions);
      }
      return failure == 0 ? pid.get(INT, 0) : -failure;
    } catch (Throwable e) {
      throw impossible(e);
    }
  }

  private static int describe(Program program, MemorySegment actions, Arena arena)
      throws Throwable {
    int failure = (int) CHDIR.invokeExact(actions, text(arena, program.directory()));
    for (int i = 0; failure == 0 && i < program.streams().size(); i++) {
      Opened stream = program.streams().get(i);
      MemorySegment file = text(arena, stream.file());
      failure = (int) OPEN.invokeExact(actions, i, file, stream.mode().flags, RIGHTS);
    }
    return failure == 0 ? (int) CLOSE_FROM.invokeExact(actions, program.streams().size()) : failure;
  }

  private static MemorySegment attributes() {
    MemorySegment attributes = Arena.global().allocate(OPAQUE_BYTES, 16);
    MemorySegment none = Arena.global().allocate(OPAQUE_BYTES, 16);
    int flags = SETPGROUP | SETSIGMASK;
    try {
      int failures =
          (int) function(ATTRIBUTE + "init", ONE).invokeExact(attributes)
              | (int) function(ATTRIBUTE + "setsigmask", TWO).invokeExact(attributes, none)
              | (int) function(ATTRIBUTE + "setflags", NUMBERED).invokeExact(attributes, flags);
      if (failures != 0) {
        throw new UnsupportedOperationException("no attributes of a start: " + failures);
      }
      return attributes;
    } catch (RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw impossible(e);
    }
  }

  private static MemorySegment pointers(Arena arena, List<byte[]> texts) {
    MemorySegment all = arena.allocate(POINTER, texts.size() + 1L);
    for (int i = 0; i < texts.size(); i++) {
      all.setAtIndex(POINTER, i, text(arena, texts.get(i)));
    }
    return all;
  }

  private static MemorySegment text(Arena arena, Path path) {
    return text(arena, bytes(path.toString()));
  }

  /** A text in the form of C. */
  private static MemorySegment text(Arena arena, byte[] bytes) {
    MemorySegment text = arena.allocate(bytes.length + 1L);
    MemorySegment.copy(bytes, 0, text, ValueLayout.JAVA_BYTE, 0, bytes.length);
    return text;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(ProcessSpec.CHARSET);
  }
}
