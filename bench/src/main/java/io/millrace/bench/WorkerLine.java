package io.millrace.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.function.LongConsumer;

/**
 * A worker on a WebSocket, which is always ready and answers each job at once. It speaks the lean
 * part of the protocol that this needs, without a library. For use by one thread.
 */
final class WorkerLine implements AutoCloseable {
  private static final int BUFFER_BYTES = 2 << 10;
  private static final int TEXT = 0x81;
  private static final int BINARY = 0x82;
  private static final int CLOSE = 0x88;
  private static final int PING = 0x89;
  private static final int PONG = 0x8a;
  private static final int LONG_LENGTH = 126;
  private static final byte[] SWITCHED = Ascii.bytes("HTTP/1.1 101");
  private static final byte[] HEAD_END = Ascii.bytes("\r\n\r\n");
  private static final byte[] REFUSED = Ascii.bytes("\"refused\"");
  private static final byte[] READY = Ascii.bytes("{\"code\":1,\"status\":1}");

  private final SocketChannel channel;
  private final ByteBuffer in = ByteBuffer.allocate(BUFFER_BYTES);
  private final ByteBuffer out = ByteBuffer.allocate(BUFFER_BYTES);

  private WorkerLine(SocketChannel channel) {
    this.channel = channel;
  }

  /** Connects, registers, and does not wait for what the server says to it. */
  static WorkerLine connect(int port, String id) throws IOException {
    SocketChannel channel =
        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    WorkerLine line = new WorkerLine(channel);
    line.shakeHands(port);
    line.send(
        TEXT, Ascii.bytes("{\"code\":0,\"name\":\"bench\",\"id\":\"" + id + "\",\"token\":\"\"}"));
    channel.configureBlocking(false);
    return line;
  }

  private void shakeHands(int port) throws IOException {
    out.put(
        Ascii.bytes(
            "GET /api/worker HTTP/1.1\r\nHost: 127.0.0.1:"
                + port
                + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: bWlsbHJhY2UtYmVuY2gtMA==\r\n\r\n"));
    flush();
    int end = -1;
    while (end < 0) {
      if (channel.read(in) < 0) {
        throw new BenchException("the server has closed the connection of a worker");
      }
      in.flip();
      end = Ascii.find(in, 0, HEAD_END);
      in.position(in.limit()).limit(in.capacity());
    }
    in.flip();
    if (Ascii.find(in, 0, SWITCHED) != 0) {
      throw new BenchException("no worker is let in: " + Ascii.show(in));
    }
    in.position(end + HEAD_END.length);
    in.compact();
  }

  SocketChannel channel() {
    return channel;
  }

  /** Reads what has come and answers it; tells of the number that each payload is. */
  void hear(LongConsumer started) throws IOException {
    if (channel.read(in) < 0) {
      throw new BenchException("the server has closed the connection of a worker");
    }
    in.flip();
    boolean more = true;
    while (more) {
      more = hearFrame(started);
    }
    in.compact();
    flush();
  }

  /** Whether there was a whole frame. */
  private boolean hearFrame(LongConsumer started) throws IOException {
    if (in.remaining() < 2) {
      return false;
    }
    int begin = in.position();
    int kind = in.get() & 0xff;
    int length = in.get();
    if (length == LONG_LENGTH) {
      length = in.remaining() < Short.BYTES ? BUFFER_BYTES : in.getShort();
    }
    if (in.remaining() < length) {
      in.position(begin);
      return false;
    }
    ByteBuffer content = in.slice(in.position(), length);
    in.position(in.position() + length);
    switch (kind) {
      case TEXT -> {
        if (Ascii.find(content, 0, REFUSED) >= 0) {
          throw new BenchException("the server refuses a result: " + Ascii.show(content));
        }
        send(TEXT, READY);
      }
      case BINARY -> {
        started.accept(Ascii.number(content, 0));
        send(BINARY, SubmitLine.RESULT);
      }
      case PING -> send(PONG, new byte[0]);
      case CLOSE -> throw new BenchException("the server closes: " + Ascii.show(content));
      default -> throw new BenchException("the server sends a frame of the kind " + kind);
    }
    return true;
  }

  /** Puts a frame into the buffer, masked with zeros: its bytes are what they are. */
  private void send(int kind, byte[] content) throws IOException {
    out.put((byte) kind).put((byte) (0x80 | content.length)).putInt(0).put(content);
    if (out.remaining() < BUFFER_BYTES / 2 || channel.isBlocking()) {
      flush();
    }
  }

  private void flush() throws IOException {
    out.flip();
    while (out.hasRemaining()) {
      if (channel.write(out) == 0) {
        Thread.onSpinWait();
      }
    }
    out.clear();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
