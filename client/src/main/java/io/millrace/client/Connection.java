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
import org.apache.hc.core5.http.impl.io.MonitoringResponseOutOfOrderStrategy;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.http.io.entity.InputStreamEntity;
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
      Answer answer = whole(response);
      reusable =
          DefaultConnectionReuseStrategy.INSTANCE.keepAlive(
              null, response, HttpCoreContext.create());
      return answer;
    } catch (HttpException e) {
      throw new IOException("the answer is not HTTP: " + e.getMessage(), e);
    }
  }

  private static Answer whole(ClassicHttpResponse response) throws IOException, HttpException {
    HttpEntity entity = response.getEntity();
    return new Answer(
        response.getCode(),
        header(response, Answers.POSITION_HEADER),
        header(response, Answers.TIME_HEADER),
        entity == null ? new byte[0] : EntityUtils.toByteArray(entity));
  }

  /**
   * Posts a body that is read while it is sent. The connection serves nothing else.
   *
   * @param answerMillis how long to wait for the answer once all is sent
   * @throws IOException when the body cannot be read or the connection broke
   */
  Answer upload(String path, Upload upload, int answerMillis) throws IOException {
    try {
      reusable = false;
      ClassicHttpRequest message = message("POST", path);
      message.setHeader("Content-Type", upload.contentType());
      if (upload.length() < 0) {
        message.setHeader("Transfer-Encoding", "chunked");
      } else {
        message.setHeader("Content-Length", upload.length());
      }
      message.setEntity(
          new InputStreamEntity(
              upload.content(), upload.length(), ContentType.parse(upload.contentType())));
      return whole(sendWhole(message, answerMillis));
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
    ClassicHttpRequest message = message(request.method(), request.path());
    if (accept != null) {
      message.setHeader("Accept", accept);
    }
    if (body != null) {
      message.setEntity(new ByteArrayEntity(body, ContentType.APPLICATION_JSON));
      message.setHeader("Content-Type", "application/json");
      message.setHeader("Content-Length", body.length);
    }
    return sendWhole(message, request.answerMillis());
  }

  private ClassicHttpRequest message(String method, String path) {
    ClassicHttpRequest message = new BasicClassicHttpRequest(method, server.path(path));
    message.setHeader("Host", server.hostHeader());
    if (server.token() != null) {
      message.setHeader("Authorization", "Bearer " + server.token());
    }
    server.headers().forEach(message::setHeader);
    return message;
  }

  private ClassicHttpResponse sendWhole(ClassicHttpRequest message, int answerMillis)
      throws IOException, HttpException {
    http.setSocketTimeout(Timeout.ofMilliseconds(answerMillis));
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
