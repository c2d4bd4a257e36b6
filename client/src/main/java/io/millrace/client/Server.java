package io.millrace.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The server's address and how to connect to it. */
final class Server {
  private final ClientOptions options;
  private final String host;
  private final int port;
  private final @Nullable Encryption encrypted;
  private final String hostHeader;
  private final String prefix;
  private final Map<String, String> headers;

  Server(ClientOptions options) {
    this(options, Map.of());
  }

  /** With headers that go with every request. */
  Server(ClientOptions options, Map<String, String> headers) {
    URI address = options.server();
    this.options = options;
    this.headers = Map.copyOf(headers);
    String named = address.getHost();
    host = named.startsWith("[") ? named.substring(1, named.length() - 1) : named;
    boolean secure = "https".equalsIgnoreCase(address.getScheme());
    encrypted = secure ? new Encryption(options.tls()) : null;
    int usual = secure ? 443 : 80;
    port = address.getPort() < 0 ? usual : address.getPort();
    hostHeader = port == usual ? named : named + ":" + port;
    String path = address.getRawPath() == null ? "" : address.getRawPath();
    prefix = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }

  /** The path to ask for, with the path that the server lives under. */
  String path(String path) {
    return prefix + path;
  }

  String hostHeader() {
    return hostHeader;
  }

  @Nullable String token() {
    return options.token();
  }

  /** What goes with every request. */
  Map<String, String> headers() {
    return headers;
  }

  /**
   * A new connection.
   *
   * @throws NotSentException when there is none to be had
   */
  Connection connect() throws NotSentException {
    int timeoutMillis = (int) Math.min(Integer.MAX_VALUE, options.timeouts().connect().toMillis());
    Socket socket = new Socket();
    try {
      socket.connect(new InetSocketAddress(host, port), Math.max(1, timeoutMillis));
      socket.setTcpNoDelay(true);
      return new Connection(
          this, encrypted == null ? socket : encrypted.over(socket, host, port, timeoutMillis));
    } catch (IOException e) {
      try {
        socket.close();
      } catch (IOException later) {
        e.addSuppressed(later);
      }
      if (e instanceof UntrustedException untrusted) {
        throw untrusted;
      }
      throw new NotSentException("cannot reach " + this + ": " + e.getMessage(), e);
    }
  }

  @Override
  public String toString() {
    return options.server().toString();
  }
}
