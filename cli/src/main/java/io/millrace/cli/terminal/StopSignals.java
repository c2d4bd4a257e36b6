package io.millrace.cli.terminal;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears of SIGTERM and SIGINT, each time anew. A hook of the JVM hears of the first only, and
 * begins to end the process; what tells more is not part of Java's interface but of every JDK, so
 * it is asked for by name.
 */
public final class StopSignals {
  private static final Logger LOG = LoggerFactory.getLogger(StopSignals.class);

  private StopSignals() {}

  /** Runs {@code listener} at each of them; if that is not possible, they end the process. */
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
      LOG.warn("a stop will end the process at once: {}", e.toString());
    }
  }
}
