package io.millrace.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.http.message.AsyncResponse;
import io.millrace.http.message.Response;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every request is answered, whole and by one site, while the site is replaced or drained. */
@Timeout(120)
final class ReplacedSiteTest {
  private static final int CLIENTS = 24;
  private static final int REQUESTS = 400;
  private static final Duration GRACE = Duration.ofSeconds(30);

  /** What the answer of each site ends with, after its number. */
  private static final String TEXT = "th site";

  private final HttpServer server =
      HttpServer.start(
          new HttpServer.Endpoint(InetAddress.getLoopbackAddress(), 0, null),
          HttpLimits.DEFAULT,
          site(0));

  private static HttpServer.Site site(int number) {
    byte[] body = (number + TEXT).getBytes(StandardCharsets.UTF_8);
    Response.Whole answer = new Response.Whole(200, Response.TEXT, Map.of(), body);
    return new HttpServer.Site(
        AccessCheck.OPEN,
        new Routes(new SimpleMeterRegistry())
            .addAll(
                ApiRoutes.below("")
                    .body(Route.Body.BYTES)
                    .post(
                        "/thread",
                        request -> {
                          var _ = request.bodyStream().readAllBytes();
                          return answer;
                        })
                    .post("/loop", (_, _) -> AsyncResponse.now(answer), _ -> answer)
                    .routes()),
        new ErrorResponses(),
        AuditTrail.NONE);
  }

  @AfterEach
  void stop() {
    server.stop();
  }

  /** A response. */
  private record Answer(String head, String body) {}

  /** A client with one connection, which it never opens again. */
  private static final class Client implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;

    Client(int port) throws IOException {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream());
    }

    /** Sends a request, and returns the number of the site. */
    int ask(String path) throws IOException {
      Answer answer = send(path);
      assertThat(answer.head()).startsWith("HTTP/1.1 200").doesNotContain("Connection: close");
      assertThat(answer.body()).endsWith(TEXT);
      String number = answer.body().substring(0, answer.body().length() - TEXT.length());
      return Integer.parseInt(number);
    }

    /** Sends a request, its body in a second part. */
    Answer send(String path) throws IOException {
      OutputStream out = socket.getOutputStream();
      String head = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n";
      out.write((head + "bo").getBytes(StandardCharsets.US_ASCII));
      out.write("dy".getBytes(StandardCharsets.US_ASCII));
      StringBuilder received = new StringBuilder();
      while (received.indexOf("\r\n\r\n") < 0) {
        received.append(next());
      }
      String length = received.toString().replaceAll("(?is).*content-length: *(\\d+).*", "$1");
      StringBuilder body = new StringBuilder();
      for (int left = Integer.parseInt(length); left > 0; left--) {
        body.append(next());
      }
      return new Answer(received.toString(), body.toString());
    }

    private char next() throws IOException {
      int one = in.read();
      assertThat(one).as("the connection was closed").isNotNegative();
      return (char) one;
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  @Test
  void a_request_that_arrives_while_the_server_stops_is_answered_or_refused() throws Exception {
    CountDownLatch began = new CountDownLatch(CLIENTS);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Answer>> lasts = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        String path = i % 2 == 0 ? "/thread" : "/loop";
        lasts.add(
            threads.submit(() -> {
              try (Client client = new Client(server.port())) {
                Answer answer = client.send(path);
                began.countDown();
                while (answer.head().startsWith("HTTP/1.1 200")) {
                  answer = client.send(path);
                }
                return answer;
              } finally {
                began.countDown();
              }
            }));
      }
      began.await();
      int port = server.port();
      server.drain();
      for (Future<Answer> last : lasts) {
        Answer refusal = last.get();
        assertThat(refusal.head())
            .startsWith("HTTP/1.1 503")
            .contains("Connection: close", "Millrace-Role: stopping");
        assertThat(refusal.body()).contains("the server is stopping");
      }
      assertThatThrownBy(() -> new Client(port)).isInstanceOf(ConnectException.class);
    }
  }

  @Test
  void a_request_that_arrives_while_the_site_is_replaced_is_answered() throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    CountDownLatch began = new CountDownLatch(CLIENTS);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        String path = i % 2 == 0 ? "/thread" : "/loop";
        clients.add(
            threads.submit(() -> {
              int last = 0;
              try (Client client = new Client(server.port())) {
                began.countDown();
                for (int request = 0; request < REQUESTS; request++) {
                  int site = client.ask(path);
                  assertThat(site).as("a site does not come back").isGreaterThanOrEqualTo(last);
                  last = site;
                }
                return last;
              } finally {
                began.countDown();
              }
            }));
      }
      Future<Integer> replacing =
          threads.submit(() -> {
            began.await();
            int number = 0;
            while (!done.get()) {
              server.serve(site(++number), GRACE);
            }
            return number;
          });
      try {
        for (Future<Integer> client : clients) {
          assertThat(client.get()).isPositive();
        }
      } finally {
        done.set(true);
      }
      assertThat(replacing.get()).isPositive();
    }
  }
}
