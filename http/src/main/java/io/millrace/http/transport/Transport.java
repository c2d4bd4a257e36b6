package io.millrace.http.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Sends and receives the bytes of a connection. An event loop uses {@link #read} and {@link #write}
 * while the channel is in nonblocking mode; a thread uses {@link #receive} and {@link #send} while
 * it is in blocking mode. At a time one thread receives and one sends; they may be different ones.
 */
public interface Transport {
  /** The channel, to switch its mode and to select it. */
  SocketChannel channel();

  /** Whether others on the network can neither read nor change the bytes. */
  boolean isSecure();

  /**
   * Reads what has arrived, without waiting.
   *
   * @return the number of bytes; 0 if nothing has arrived; -1 if the client has ended its output
   */
  int read(ByteBuffer target) throws IOException;

  /** Whether {@link #read} would find bytes even if the channel has no more to read. */
  boolean hasReceived();

  /** Writes as much as the client takes now. */
  void write(ByteBuffer source) throws IOException;

  /** Whether the client has taken everything that was written. */
  boolean isFlushed();

  /**
   * Waits for bytes.
   *
   * @param target backed by an array
   * @param timeoutMillis the longest wait; 0 for no limit
   * @return the number of bytes; 0 if none have arrived in time, or only a part of what is needed
   *     to decrypt them; -1 if the client has ended its output
   */
  int receive(ByteBuffer target, int timeoutMillis) throws IOException;

  /**
   * Sends everything.
   *
   * @param source backed by an array
   */
  void send(ByteBuffer source) throws IOException;

  /** Waits for at least one byte without a limit of time; returns -1 at the end of the input. */
  default int await(ByteBuffer target) throws IOException {
    int count = 0;
    while (count == 0) {
      count = receive(target, 0);
    }
    return count;
  }

  /** Ends the output. What the client still sends can only be dropped, by {@link #drop}. */
  void shutdownOutput() throws IOException;

  /**
   * Reads what the client sends and drops it, in the mode of the channel.
   *
   * @param scratch is overwritten
   * @return the number of bytes; -1 if the client has ended its output
   */
  default int drop(ByteBuffer scratch) throws IOException {
    return channel().read(scratch);
  }

  /** Closes the connection. Called by any thread; does not wait. */
  void close() throws IOException;
}
