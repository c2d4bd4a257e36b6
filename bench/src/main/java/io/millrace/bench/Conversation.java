package io.millrace.bench;

import java.nio.ByteBuffer;

/** What one connection says and hears, one request at a time. For use by one thread. */
interface Conversation {
  /** Writes the next request. */
  void ask(ByteBuffer target);

  /**
   * Looks at what has come since the request: reads a whole answer, or leaves the buffer's position
   * where it is because more must come.
   *
   * @return whether an answer was read
   * @throws BenchException when the answer is not what it should be
   */
  boolean hear(ByteBuffer received);

  /** How many lifecycles the answer heard last has ended; 0 within one. */
  int ended();
}
