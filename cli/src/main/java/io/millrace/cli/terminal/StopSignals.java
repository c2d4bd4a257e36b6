package io.millrace.cli.terminal;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles every SIGTERM and SIGINT. A shutdown hook runs only once, when the process is already
 * ending, so this uses {@code sun.misc.Signal}, which every JDK has but which is not part of Java's
 * API.
 */
public final class StopSignals {
  private static final Logger LOG = LoggerFactory.getLogger(StopSignals.class);

  private StopSignals() {}

  /** Runs {@code listener} on each signal. If that is not possible, a signal ends the process. */
  public static void listen(Runnable listener) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      MethodHandle run =
          MethodHandles.publicLookup()
              .findVirtual(Runnable.class, "run", MethodType.methodType(void.class))
              .bindTo(listener);
      Object told =
          MethodHandleProxies.asInterfaceInstance(
              handler, MethodHandles.dropArguments(run, 0, signal));
      for (String name : new String[] {"TERM", "INT"}) {
        var _ =
            signal
                .getMethod("handle", signal, handler)
                .invoke(null, signal.getConstructor(String.class).newInstance(name), told);
      }
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      LOG.warn(
          "SIGTERM and SIGINT cannot be handled and will end the process at once: {}",
          e.toString());
    }
  }
}
