package io.millrace.client;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A server of one's own words, to see what a client does when they are odd or never come. */
final class ScriptedServer implements AutoCloseable {
  /** What to do with a request. */
  interface Script {
    void answer(Received request, OutputStream out) throws IOException;
  }

  /** A request, with its number from 1. */
  record Received(int number, String line, String headers, String body) {}

  private final ServerSocket listener;
  private final Script script;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicInteger connections = new AtomicInteger();

  ScriptedServer(Script script) {
    this(onAnyPort(), script);
  }

  /** With a socket that listens already. */
  ScriptedServer(ServerSocket listener, Script script) {
    this.listener = listener;
    this.script = script;
    Thread.ofVirtual().start(this::listen);
  }

  private static ServerSocket onAnyPort() {
    try {
      return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + listener.getLocalPort());
  }

  int requests() {
    return requests.get();
  }

  int connections() {
    return connections.get();
  }

  static void json(OutputStream out, int status, String headers, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    out.write(
        ("HTTP/1.1 " + status + " X\r\n" + headers + "Content-Length: " + bytes.length + "\r\n\r\n")
            .getBytes(StandardCharsets.ISO_8859_1));
    out.write(bytes);
    out.flush();
  }

  static void done(OutputStream out, String more) throws IOException {
    json(out, 200, "", "{\"tasks\":[],\"position\":\"a-1\",\"time\":5" + more + "}");
  }

  static void hangUp(OutputStream out) throws IOException {
    out.close();
  }

  private void listen() {
    try {
      while (true) {
        Socket socket = listener.accept();
        sockets.add(socket);
        connections.incrementAndGet();
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException _) {
      // Closed.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      OutputStream out = socket.getOutputStream();
      while (true) {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
          int one = in.read();
          if (one < 0) {
            return;
          }
          head.append((char) one);
        }
        int lineEnd = head.indexOf("\r\n");
        byte[] body = in.readNBytes(length(head.toString()));
        script.answer(
            new Received(
                requests.incrementAndGet(),
                head.substring(0, lineEnd),
                head.substring(lineEnd),
                new String(body, StandardCharsets.UTF_8)),
            out);
      }
    } catch (IOException _) {
      // Hung up.
    } finally {
      sockets.remove(socket);
    }
  }

  private static int length(String head) {
    String name = "content-length: ";
    int at = head.toLowerCase(Locale.ROOT).indexOf(name);
    return at < 0
        ? 0
        : Integer.parseInt(head.substring(at + name.length(), head.indexOf('\r', at)).strip());
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
