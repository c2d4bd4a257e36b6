package io.millrace.client;

import io.millrace.wire.Answers;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import org.apache.hc.core5.http.ClassicHttpRequest;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpEntity;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.config.Http1Config;
import org.apache.hc.core5.http.impl.DefaultConnectionReuseStrategy;
import org.apache.hc.core5.http.impl.io.DefaultBHttpClientConnection;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.http.message.BasicClassicHttpRequest;
import org.apache.hc.core5.http.protocol.HttpCoreContext;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;

/** One connection to the server, for one request at a time. Any thread may {@link #cut} it. */
final class Connection implements Connections.Pooled {
  private static final long TRUSTED_REST_NANOS = 500_000_000L;
  private static final long LONGEST_REST_NANOS = 20_000_000_000L;

  private final Server server;
  private final DefaultBHttpClientConnection http =
      new DefaultBHttpClientConnection(Http1Config.DEFAULT);
  private boolean reusable = true;
  private long idleSinceNanos;

  /** Over a socket that is connected. */
  Connection(Server server, Socket socket) throws IOException {
    this.server = server;
    http.bind(socket);
  }

  @Override
  public Answer exchange(Request request) throws IOException {
    try {
      reusable = false;
      ClassicHttpResponse response = send(request, null);
      HttpEntity entity = response.getEntity();
      byte[] body = entity == null ? new byte[0] : EntityUtils.toByteArray(entity);
      reusable =
          DefaultConnectionReuseStrategy.INSTANCE.keepAlive(
              null, response, HttpCoreContext.create());
      return new Answer(
          response.getCode(),
          header(response, Answers.POSITION_HEADER),
          header(response, Answers.TIME_HEADER),
          body);
    } catch (HttpException e) {
      throw new IOException("the answer is not HTTP: " + e.getMessage(), e);
    }
  }

  /**
   * Sends a request whose answer is read while it comes. The connection serves nothing else.
   *
   * @param accept the media type wanted; null for any
   * @throws Refusal when the server answers with another status than 200
   * @throws IOException when the connection broke
   */
  InputStream stream(Request request, @Nullable String accept) throws IOException, Refusal {
    try {
      reusable = false;
      ClassicHttpResponse response = send(request, accept);
      HttpEntity entity = response.getEntity();
      if (response.getCode() != 200 || entity == null) {
        byte[] body = entity == null ? new byte[0] : EntityUtils.toByteArray(entity);
        throw new Refusal(new Answer(response.getCode(), null, null, body));
      }
      return entity.getContent();
    } catch (HttpException e) {
      throw new IOException("the answer is not HTTP: " + e.getMessage(), e);
    }
  }

  private ClassicHttpResponse send(Request request, @Nullable String accept)
      throws IOException, HttpException {
    byte[] body = request.body();
    ClassicHttpRequest message =
        new BasicClassicHttpRequest(request.method(), server.path(request.path()));
    message.setHeader("Host", server.hostHeader());
    if (server.token() != null) {
      message.setHeader("Authorization", "Bearer " + server.token());
    }
    if (accept != null) {
      message.setHeader("Accept", accept);
    }
    if (body != null) {
      message.setEntity(new ByteArrayEntity(body, ContentType.APPLICATION_JSON));
      message.setHeader("Content-Type", "application/json");
      message.setHeader("Content-Length", body.length);
    }
    http.setSocketTimeout(Timeout.ofMilliseconds(request.answerMillis()));
    sendWhole(message);
    ClassicHttpResponse response = http.receiveResponseHeader();
    while (response.getCode() < 200) {
      response = http.receiveResponseHeader();
    }
    http.receiveResponseEntity(response);
    return response;
  }

  private void sendWhole(ClassicHttpRequest message) throws IOException, HttpException {
    try {
      http.sendRequestHeader(message);
      http.sendRequestEntity(message);
      http.flush();
    } catch (IOException e) {
      // A server that refuses a large body answers early and closes: the answer may be there.
      if (!http.isDataAvailable(Timeout.ofMilliseconds(100))) {
        throw e;
      }
    }
  }

  private static @Nullable String header(ClassicHttpResponse response, String name) {
    Header header = response.getFirstHeader(name);
    return header == null ? null : header.getValue();
  }

  @Override
  public boolean reusable() {
    return reusable && http.isOpen();
  }

  @Override
  public void rest(long nanos) {
    idleSinceNanos = nanos;
  }

  @Override
  public boolean restedTooLong(long nanos) {
    return nanos - idleSinceNanos > LONGEST_REST_NANOS;
  }

  @Override
  public boolean fresh(long nanos) {
    // Looking costs a millisecond, so a short rest is trusted.
    if (nanos - idleSinceNanos < TRUSTED_REST_NANOS) {
      return true;
    }
    try {
      return !restedTooLong(nanos) && !http.isStale();
    } catch (IOException _) {
      return false;
    }
  }

  @Override
  public void cut() {
    http.close(CloseMode.IMMEDIATE);
  }

  /** The server did not give a stream. */
  static final class Refusal extends Exception {
    private static final long serialVersionUID = 1;
    private final transient Answer answer;

    Refusal(Answer answer) {
      super("status " + answer.status());
      this.answer = answer;
    }

    Answer answer() {
      return answer;
    }
  }
}
