package io.millrace.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.http.message.Response;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a streamed answer holds is released once, whatever becomes of the answer. */
final class StreamedResponseTest {
  private final Semaphore closed = new Semaphore(0);
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final HttpServer server =
      HttpServer.start(
          InetAddress.getLoopbackAddress(),
          0,
          HttpLimits.DEFAULT,
          AccessCheck.OPEN,
          new Routes(new SimpleMeterRegistry())
              .addAll(
                  ApiRoutes.below("")
                      .get("/whole", _ -> streamed(false))
                      .get("/broken", _ -> streamed(true))
                      .routes()),
          new ErrorResponses());

  private Response streamed(boolean breaks) {
    return Response.streamed(
        Response.TEXT,
        new Response.Body() {
          @Override
          public void writeTo(OutputStream target) throws IOException {
            target.write("text".getBytes(StandardCharsets.UTF_8));
            if (breaks) {
              target.flush();
              throw new IOException("the source has gone");
            }
          }

          @Override
          public void close() {
            closed.release();
          }
        });
  }

  private String ask(String method, String path) throws IOException, InterruptedException {
    HttpResponse<String> answer =
        client.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .method(method, BodyPublishers.noBody())
                .build(),
            BodyHandlers.ofString());
    return answer.statusCode() + " " + answer.body();
  }

  private void awaitClosedOnce() throws InterruptedException {
    assertThat(closed.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
    server.stop();
    assertThat(closed.availablePermits()).isZero();
  }

  @AfterEach
  void stop() {
    client.shutdownNow();
    server.stop();
  }

  @Test
  void a_whole_answer_is_closed() throws Exception {
    assertThat(ask("GET", "/whole")).isEqualTo("200 text");
    awaitClosedOnce();
  }

  @Test
  void an_answer_that_breaks_off_is_closed() throws Exception {
    assertThatThrownBy(() -> ask("GET", "/broken")).isInstanceOf(IOException.class);
    awaitClosedOnce();
  }

  @Test
  void an_answer_whose_body_is_never_written_is_closed() throws Exception {
    assertThat(ask("HEAD", "/whole")).isEqualTo("200 ");
    awaitClosedOnce();
  }
}
