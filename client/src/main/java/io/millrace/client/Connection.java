package io.millrace.client;

import io.millrace.client.HttpExchange.Request;
import io.millrace.client.ResponseReader.ResponseStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.util.Arrays;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/** An HTTP/1.1 connection, for one request at a time. Any thread may {@link #cut} it. */
final class Connection implements ConnectionPool.Pooled {
  private static final long TRUSTED_IDLE_NANOS = 500_000_000L;
  private static final long LONGEST_IDLE_NANOS = 20_000_000_000L;

  /** After this many bytes of a body, the client checks whether the server has refused it. */
  private static final long LOOK_EVERY_BYTES = 1 << 20;

  /** Bodies of up to this size are sent together with the head. */
  private static final int GATHERED_BYTES = 32 << 10;

  /** Longer bodies are sent in parts of this size. */
  private static final int PART_BYTES = 64 << 10;

  private static final byte[] LINE_END = ascii("\r\n");

  /** The plain socket: that below TLS, or the same as {@link #socket}. */
  private final Socket base;

  private final Socket socket;
  private final OutputStream out;
  private final ResponseReader responses;
  private final ResponseDeadlines.Deadline deadline;

  /** How long the server may send nothing, or read nothing of a body. */
  private int responseTimeoutMillis;

  private byte[] outgoing = new byte[1 << 10];
  private int outgoingBytes;
  private boolean sent;
  private boolean reusable = true;
  private volatile boolean cut;
  private long idleSinceNanos;

  private Connection(Socket base, Socket socket, ResponseDeadlines deadlines) throws IOException {
    this.base = base;
    this.socket = socket;
    out = new TimedOutput(socket.getOutputStream());
    responses = new ResponseReader(new TimedInput(socket.getInputStream()));
    deadline = deadlines.of(this::cut);
  }

  /**
   * Connects to a server.
   *
   * @param tls creates TLS connections; null for connections without TLS
   * @param deadlines cuts the connection if the server is silent for too long
   * @throws NotSentException.Untrusted if the certificate of the server is not trusted, or it does
   *     not speak TLS
   * @throws IOException if the server cannot be reached
   */
  static Connection open(
      InetSocketAddress address,
      @Nullable SSLSocketFactory tls,
      int timeoutMillis,
      ResponseDeadlines deadlines)
      throws IOException {
    Socket socket = new Socket();
    try {
      socket.connect(address, timeoutMillis);
      socket.setTcpNoDelay(true);
      Socket top = tls == null ? socket : handshake(socket, address, tls, timeoutMillis);
      return new Connection(socket, top, deadlines);
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
      encrypted.setSoTimeout(0);
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
   * Sends a request and reads the head of the response. The caller reads the body, and then calls
   * {@link #finished}, so that the connection can be reused.
   *
   * @param prefix the prefix of the path
   * @param headers the encoded headers of every request
   * @throws IOException if the connection broke; what the server did is unknown then
   */
  ResponseStream send(Request request, String prefix, byte[] headers) throws IOException {
    reusable = false;
    sent = false;
    outgoingBytes = 0;
    responseTimeoutMillis = request.responseTimeoutMillis();
    put(request.method() + " " + prefix + request.path() + " HTTP/1.1\r\n");
    put(headers);
    request.headers().forEach(this::putHeader);
    try {
      byte[] json = request.json();
      UploadBody upload = request.upload();
      if (json != null) {
        sendJson(json);
      } else if (upload != null) {
        sendUpload(upload);
      } else {
        put(LINE_END);
        flush();
        sent = true;
      }
    } catch (IOException e) {
      // A server that refuses a large body responds early and closes the connection.
      boolean unread = request.upload() != null && request.upload().failure() != null;
      if (unread || deadline.hasPassed() || !hasResponse(100)) {
        throw e;
      }
    }
    return responses.next(request.method());
  }

  private void sendJson(byte[] json) throws IOException {
    putHeader("Content-Type", "application/json");
    putHeader("Content-Length", Integer.toString(json.length));
    put(LINE_END);
    if (json.length <= GATHERED_BYTES) {
      put(json);
      flush();
    } else {
      flush();
      for (int from = 0; from < json.length; from += PART_BYTES) {
        out.write(json, from, Math.min(PART_BYTES, json.length - from));
      }
      out.flush();
    }
    sent = true;
  }

  /** Sends a body while it is read. Stops if the server responds before the end. */
  private void sendUpload(UploadBody upload) throws IOException {
    boolean chunked = upload.length() < 0;
    if (upload.contentType() != null) {
      putHeader("Content-Type", upload.contentType());
    }
    if (chunked) {
      putHeader("Transfer-Encoding", "chunked");
    } else {
      putHeader("Content-Length", Long.toString(upload.length()));
    }
    put(LINE_END);
    byte[] part = new byte[PART_BYTES];
    long look = LOOK_EVERY_BYTES;
    for (int count = read(upload, part); count >= 0; count = read(upload, part)) {
      if (chunked && count > 0) {
        put(Integer.toHexString(count) + "\r\n");
      }
      flush();
      out.write(part, 0, count);
      if (chunked && count > 0) {
        put(LINE_END);
      }
      if (upload.bytesRead() >= look) {
        look += LOOK_EVERY_BYTES;
        if (hasResponse(1)) {
          return;
        }
      }
    }
    if (chunked) {
      put("0\r\n\r\n");
    }
    flush();
    sent = true;
  }

  private int read(UploadBody upload, byte[] part) throws IOException {
    boolean read = false;
    try {
      int count = upload.read(part);
      read = true;
      return count;
    } finally {
      if (!read) {
        // The server must not mistake the body for complete.
        cut();
      }
    }
  }

  private void putHeader(String name, String value) {
    put(name + ": " + value + "\r\n");
  }

  private void put(String text) {
    put(ascii(text));
  }

  private void put(byte[] bytes) {
    int end = outgoingBytes + bytes.length;
    if (end > outgoing.length) {
      outgoing = Arrays.copyOf(outgoing, Math.max(end, 2 * outgoing.length));
    }
    System.arraycopy(bytes, 0, outgoing, outgoingBytes, bytes.length);
    outgoingBytes = end;
  }

  private void flush() throws IOException {
    int count = outgoingBytes;
    outgoingBytes = 0;
    out.write(outgoing, 0, count);
    out.flush();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Whether a response starts within this time. The end of the connection does not count. */
  private boolean hasResponse(int millis) throws IOException {
    return responses.hasMore() || (!isSilent(millis) && responses.hasMore());
  }

  /** Whether nothing arrives within this time, not even the end of the connection. */
  private boolean isSilent(int millis) throws IOException {
    socket.setSoTimeout(millis);
    try {
      var _ = responses.fill();
      return false;
    } catch (SocketTimeoutException _) {
      return true;
    } finally {
      socket.setSoTimeout(0);
    }
  }

  /** The bytes from the server. Reading fails if nothing arrives for too long. */
  private final class TimedInput extends InputStream {
    private final InputStream in;

    TimedInput(InputStream in) {
      this.in = in;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      deadline.begin(responseTimeoutMillis);
      try {
        return in.read(target, offset, length);
      } catch (IOException e) {
        throw late("was silent", e);
      } finally {
        // If the deadline has passed in the meantime, the connection is cut, but the bytes are
        // valid.
        deadline.end();
      }
    }
  }

  /** The bytes to the server. Writing fails if it reads nothing for too long. */
  private final class TimedOutput extends OutputStream {
    private final OutputStream to;

    TimedOutput(OutputStream to) {
      this.to = to;
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      deadline.begin(responseTimeoutMillis);
      try {
        to.write(bytes, offset, length);
      } catch (IOException e) {
        throw late("has read nothing of the request", e);
      } finally {
        deadline.end();
      }
    }

    @Override
    public void flush() throws IOException {
      to.flush();
    }
  }

  /** Says so if something failed since the deadline cut the connection. */
  private IOException late(String what, IOException e) {
    return deadline.hasPassed()
        ? new IOException("the server " + what + " for " + responseTimeoutMillis + " ms", e)
        : e;
  }

  /** Called when the body of this response has been read to its end. */
  void finished(ResponseStream response) {
    // After an early response, part of the request has not been sent.
    reusable = sent && response.keepsConnection();
  }

  @Override
  public boolean isReusable() {
    return reusable && !cut;
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
    // The check takes a millisecond, so it is skipped after a short idle time.
    if (!certain && nanos - idleSinceNanos < TRUSTED_IDLE_NANOS) {
      return true;
    }
    try {
      // If anything arrives, be it the end or an unexpected response, the connection is unusable.
      return !cut && !idleTooLong(nanos) && isSilent(1);
    } catch (IOException _) {
      return false;
    }
  }

  @Override
  public void cut() {
    cut = true;
    deadline.close();
    try {
      // Close at once, and discard what has not been sent.
      base.setSoLinger(true, 0);
    } catch (IOException _) {
      // The socket is closed already.
    }
    try {
      base.close();
    } catch (IOException _) {
      // Nothing can be done about it.
    }
  }
}
