package io.millrace.cluster.gadget;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** Something that acts when an object is made of it, as an attacker would have it. */
public final class Gadget implements Serializable {
  private static final long serialVersionUID = 1;
  private static final AtomicInteger MADE = new AtomicInteger();

  /** Something with it inside. */
  public interface Source extends Supplier<String>, Serializable {}

  private void readObject(ObjectInputStream stream) throws IOException, ClassNotFoundException {
    stream.defaultReadObject();
    MADE.incrementAndGet();
  }

  /** How often one was made of bytes. */
  public static int made() {
    return MADE.get();
  }

  /** A lambda of this class. */
  public static Source lambda() {
    return () -> "written where nobody is trusted";
  }
}
