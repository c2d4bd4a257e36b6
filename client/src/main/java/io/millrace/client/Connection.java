package io.millrace.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.security.cert.CertificateException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.apache.hc.core5.http.ClassicHttpRequest;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.config.Http1Config;
import org.apache.hc.core5.http.impl.DefaultConnectionReuseStrategy;
import org.apache.hc.core5.http.impl.io.DefaultBHttpClientConnection;
import org.apache.hc.core5.http.impl.io.MonitoringResponseOutOfOrderStrategy;
import org.apache.hc.core5.http.message.MessageSupport;
import org.apache.hc.core5.http.protocol.HttpCoreContext;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;

/** An HTTP/1.1 connection, for one request at a time. Any thread may {@link #cut} it. */
final class Connection implements ConnectionPool.Pooled {
  private static final long TRUSTED_IDLE_NANOS = 500_000_000L;
  private static final long LONGEST_IDLE_NANOS = 20_000_000_000L;

  /** After how many bytes of a body to look whether the server has refused it already. */
  private static final long LOOK_EVERY_BYTES = 1 << 20;

  private final DefaultBHttpClientConnection http =
      new DefaultBHttpClientConnection(
          Http1Config.DEFAULT,
          null,
          null,
          null,
          null,
          new MonitoringResponseOutOfOrderStrategy(LOOK_EVERY_BYTES),
          null,
          null);
  private boolean sent;
  private boolean reusable = true;
  private long idleSinceNanos;

  private Connection(Socket socket) throws IOException {
    http.bind(socket);
  }

  /**
   * Connects to a server.
   *
   * @param tls what makes TLS connections; null for a connection without
   * @throws NotSentException.Untrusted if it is not the server that was meant, or speaks no TLS
   * @throws IOException if it cannot be reached
   */
  static Connection open(
      InetSocketAddress address, @Nullable SSLSocketFactory tls, int timeoutMillis)
      throws IOException {
    Socket socket = new Socket();
    try {
      socket.connect(address, timeoutMillis);
      socket.setTcpNoDelay(true);
      return new Connection(tls == null ? socket : handshake(socket, address, tls, timeoutMillis));
    } catch (IOException e) {
      try {
        socket.close();
      } catch (IOException later) {
        e.addSuppressed(later);
      }
      throw e;
    }
  }

  private static Socket handshake(
      Socket socket, InetSocketAddress address, SSLSocketFactory tls, int timeoutMillis)
      throws IOException {
    String host = address.getHostString();
    SSLSocket encrypted = (SSLSocket) tls.createSocket(socket, host, address.getPort(), true);
    SSLParameters parameters = encrypted.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    encrypted.setSSLParameters(parameters);
    encrypted.setSoTimeout(timeoutMillis);
    try {
      encrypted.startHandshake();
      return encrypted;
    } catch (SSLException e) {
      String where = host + ":" + address.getPort();
      for (Throwable cause = e; cause != null; cause = cause.getCause()) {
        if (cause instanceof CertificateException) {
          throw new NotSentException.Untrusted(
              "the certificate of " + where + " is not trusted: " + cause.getMessage(), e);
        }
      }
      if (e.getClass() == SSLException.class) {
        throw new NotSentException.Untrusted(
            where + " does not speak TLS as it should: " + e.getMessage(), e);
      }
      throw e;
    }
  }

  /**
   * Sends a request and reads the head of its answer, whose body is to be read next. The connection
   * can be used again once {@link #finished} was called.
   *
   * @param answerMillis how long to wait for the answer, and later for each of its bytes
   * @throws IOException if the connection broke, so that it is unknown what the server did
   */
  ClassicHttpResponse send(ClassicHttpRequest request, int answerMillis) throws IOException {
    try {
      reusable = false;
      sent = false;
      http.setSocketTimeout(Timeout.ofMilliseconds(answerMillis));
      sendWhole(request);
      ClassicHttpResponse response = http.receiveResponseHeader();
      while (response.getCode() < 200) {
        response = http.receiveResponseHeader();
      }
      if (MessageSupport.canResponseHaveBody(request.getMethod(), response)) {
        http.receiveResponseEntity(response);
      }
      return response;
    } catch (HttpException e) {
      throw new IOException("the answer is not HTTP: " + e.getMessage(), e);
    }
  }

  private void sendWhole(ClassicHttpRequest request) throws IOException, HttpException {
    try {
      http.sendRequestHeader(request);
      if (request.getEntity() instanceof UploadBody body) {
        body.onFailure(this::cut);
      }
      http.sendRequestEntity(request);
      http.flush();
      sent = true;
    } catch (IOException e) {
      // A server that refuses a large body answers early and closes: the answer may be there.
      if (!http.isDataAvailable(Timeout.ofMilliseconds(100))) {
        throw e;
      }
    }
  }

  /** The body of this answer has been read to its end. */
  void finished(ClassicHttpResponse response) {
    // An answer that came early leaves a request that was sent in part.
    reusable =
        sent
            && http.isConsistent()
            && DefaultConnectionReuseStrategy.INSTANCE.keepAlive(
                null, response, HttpCoreContext.create());
  }

  @Override
  public boolean isReusable() {
    return reusable && http.isOpen();
  }

  @Override
  public void idleSince(long nanos) {
    idleSinceNanos = nanos;
  }

  @Override
  public boolean idleTooLong(long nanos) {
    return nanos - idleSinceNanos > LONGEST_IDLE_NANOS;
  }

  @Override
  public boolean isUsable(long nanos, boolean certain) {
    // Looking takes a millisecond, so a short time is trusted.
    if (!certain && nanos - idleSinceNanos < TRUSTED_IDLE_NANOS) {
      return true;
    }
    try {
      return !idleTooLong(nanos) && !http.isStale();
    } catch (IOException _) {
      return false;
    }
  }

  @Override
  public void cut() {
    http.close(CloseMode.IMMEDIATE);
  }
}
