package io.millrace.cluster.gadget;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** A class whose deserialization has an effect, as an attacker would use it. */
public final class Gadget implements Serializable {
  private static final long serialVersionUID = 1;
  private static final AtomicInteger MADE = new AtomicInteger();

  /** A supplier that is defined in the untrusted class. */
  public interface Source extends Supplier<String>, Serializable {}

  private void readObject(ObjectInputStream stream) throws IOException, ClassNotFoundException {
    stream.defaultReadObject();
    MADE.incrementAndGet();
  }

  /** How often an instance was deserialized. */
  public static int made() {
    return MADE.get();
  }

  /** A lambda that is defined in this class. */
  public static Source lambda() {
    return () -> "written where nobody is trusted";
  }
}
