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
import java.util.List;

/**
 * Functions of the C library that Java has no words for, on Linux with 64 bits and glibc from 2.34
 * on. The first use takes some 0.2 s of a processor, so it is for those who call often. Safe for
 * use by any number of threads.
 */
final class Libc {
  static final AddressLayout POINTER = ValueLayout.ADDRESS;
  static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option KEEP_ERRNO = Linker.Option.captureCallState("errno");
  private static final MemoryLayout KEPT = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      KEPT.varHandle(MemoryLayout.PathElement.groupElement("errno"));
  private static final int EINTR = 4;

  private static final MethodHandle KILL = function("kill", List.of(INT, INT));
  private static final MethodHandle WAITID =
      function("waitid", List.of(INT, INT, POINTER, INT), KEEP_ERRNO);

  // Parts of siginfo_t, which is 128 bytes on every system of this kind.
  private static final int SIGINFO_BYTES = 128;
  private static final int SI_CODE = 8;
  private static final int SI_STATUS = 24;
  private static final int CLD_EXITED = 1;
  private static final int P_PID = 1;
  private static final int WEXITED = 4;
  private static final int WNOWAIT = 0x01000000;

  private Libc() {}

  /** A function that answers an int and takes these parameters. */
  @SuppressWarnings("restricted") // Says that a wrong description ends the JVM: each has a test.
  static MethodHandle function(
      String name, List<MemoryLayout> parameters, Linker.Option... options) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name),
        FunctionDescriptor.of(INT, parameters.toArray(MemoryLayout[]::new)),
        options);
  }

  /** A text as C has it. */
  static MemorySegment text(Arena arena, byte[] bytes) {
    MemorySegment text = arena.allocate(bytes.length + 1L);
    MemorySegment.copy(bytes, 0, text, ValueLayout.JAVA_BYTE, 0, bytes.length);
    return text;
  }

  /** Sends a signal, or looks where that is 0; false where nobody could be sent it. */
  static boolean kill(int whom, int signal) {
    try {
      return (int) KILL.invokeExact(whom, signal) == 0;
    } catch (Throwable e) {
      throw impossible(e);
    }
  }

  /**
   * Waits for the end of a child, which stays a zombie, so that its pid and group stay its own.
   *
   * @return its exit code, or 128 and the signal that ended it; -1 where it is no child any more
   */
  static int awaitEnd(int pid) {
    return await(pid, WEXITED | WNOWAIT);
  }

  /** Waits for the end of a child and lets its pid be used again. */
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

  static AssertionError impossible(Throwable e) {
    return new AssertionError("a function of C throws nothing", e);
  }
}
