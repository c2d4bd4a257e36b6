package io.millrace.examples.cluster;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** A client that sends lines to a port until they are accepted. */
final class Client {
  private static final Duration MOST = Duration.ofSeconds(60);
  private static final int MAX_SILENCE_MILLIS = 5000;
  private static final long BETWEEN_NANOS = 20_000_000;

  private Client() {}

  /** A free port. */
  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /**
   * Sends a line until there is a response, which is the fence that it was written with. If a
   * response is lost, the line is written twice.
   */
  static long send(int port, String line) {
    long end = System.nanoTime() + MOST.toNanos();
    while (System.nanoTime() < end) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
          BufferedReader answers =
              new BufferedReader(
                  new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
        socket.setSoTimeout(MAX_SILENCE_MILLIS);
        OutputStream out = socket.getOutputStream();
        out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        String answer = answers.readLine();
        if (answer != null) {
          return Long.parseLong(answer);
        }
      } catch (IOException e) {
        LockSupport.parkNanos(BETWEEN_NANOS);
      }
    }
    throw new AssertionError("nobody takes " + line);
  }
}
