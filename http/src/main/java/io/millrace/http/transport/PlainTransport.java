package io.millrace.http.transport;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Bytes as they are.
 *
 * @param channel of the connection
 */
public record PlainTransport(SocketChannel channel) implements Transport {
  @Override
  public boolean isSecure() {
    return false;
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    return channel.read(target);
  }

  @Override
  public boolean hasReceived() {
    return false;
  }

  @Override
  public void write(ByteBuffer source) throws IOException {
    channel.write(source);
  }

  @Override
  public boolean isFlushed() {
    return true;
  }

  @Override
  public int receive(ByteBuffer target, int timeoutMillis) throws IOException {
    if (timeoutMillis == 0) {
      return channel.read(target);
    }
    try {
      channel.socket().setSoTimeout(timeoutMillis);
      int count =
          channel
              .socket()
              .getInputStream()
              .read(target.array(), target.arrayOffset() + target.position(), target.remaining());
      target.position(target.position() + Math.max(0, count));
      return count;
    } catch (SocketTimeoutException _) {
      return 0;
    }
  }

  @Override
  public void send(ByteBuffer source) throws IOException {
    // The stream writes in parts; the channel would copy everything into one buffer outside the
    // heap.
    channel
        .socket()
        .getOutputStream()
        .write(source.array(), source.arrayOffset() + source.position(), source.remaining());
    source.position(source.limit());
  }

  @Override
  public void shutdownOutput() throws IOException {
    channel.shutdownOutput();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
