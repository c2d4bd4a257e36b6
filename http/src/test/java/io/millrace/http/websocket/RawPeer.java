package io.millrace.http.websocket;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import javax.net.SocketFactory;

/** A client that can send what no client library would. */
final class RawPeer implements AutoCloseable {
  private static final int MASK = 0x1a2b3c4d;

  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;
  private final String answer;

  private RawPeer(Socket socket, String path) throws IOException {
    this.socket = socket;
    this.in = new DataInputStream(socket.getInputStream());
    this.out = new DataOutputStream(socket.getOutputStream());
    String handshake =
        """
        GET %s HTTP/1.1
        Host: localhost
        Upgrade: websocket
        Connection: keep-alive, Upgrade
        Sec-WebSocket-Version: 13
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==

        """
            .formatted(path);
    out.write(handshake.replace("\n", "\r\n").getBytes(StandardCharsets.US_ASCII));
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      head.append((char) in.readUnsignedByte());
    }
    this.answer = head.toString();
  }

  static RawPeer at(SocketFactory sockets, int port, String path) throws IOException {
    Socket socket = sockets.createSocket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(30_000);
    return new RawPeer(socket, path);
  }

  /** A frame that came. */
  static final class Frame {
    private final int first;
    private final byte[] payload;

    Frame(int first, byte[] payload) {
      this.first = first;
      this.payload = payload;
    }

    int first() {
      return first;
    }

    byte[] payload() {
      return payload;
    }

    int code() {
      return ByteBuffer.wrap(payload).getShort() & 0xffff;
    }

    String reason() {
      return new String(payload, 2, payload.length - 2, StandardCharsets.UTF_8);
    }

    String text() {
      return new String(payload, StandardCharsets.UTF_8);
    }
  }

  /** The head of the answer to the handshake. */
  String answer() {
    return answer;
  }

  void send(int first, byte[] payload) throws IOException {
    out.writeByte(first);
    if (payload.length < 126) {
      out.writeByte(0x80 | payload.length);
    } else if (payload.length < 1 << 16) {
      out.writeByte(0x80 | 126);
      out.writeShort(payload.length);
    } else {
      out.writeByte(0x80 | 127);
      out.writeLong(payload.length);
    }
    out.writeInt(MASK);
    byte[] masked = new byte[payload.length];
    for (int i = 0; i < payload.length; i++) {
      masked[i] = (byte) (payload[i] ^ (MASK >> (24 - 8 * (i & 3))));
    }
    out.write(masked);
    out.flush();
  }

  void text(String text) throws IOException {
    send(0x81, text.getBytes(StandardCharsets.UTF_8));
  }

  void bytes(int... bytes) throws IOException {
    for (int each : bytes) {
      out.write(each);
    }
    out.flush();
  }

  Frame read() throws IOException {
    int first = in.readUnsignedByte();
    int length = in.readUnsignedByte();
    if (length == 126) {
      length = in.readUnsignedShort();
    } else if (length == 127) {
      length = (int) in.readLong();
    }
    byte[] payload = new byte[length];
    in.readFully(payload);
    return new Frame(first, payload);
  }

  /** Reads until the server closes. */
  void readToEnd() throws IOException {
    in.transferTo(OutputStream.nullOutputStream());
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
