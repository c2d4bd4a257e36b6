package io.millrace.client.jobs;

import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.store.StoreException;
import io.millrace.store.environment.DurationText;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Jobs of a server over HTTP. */
final class HttpJobClient implements JobClient {
  /** Shorter than the time after which a connection without traffic may be cut on its way. */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(20);

  private static final Duration LONGEST_SILENCE = Duration.ofMinutes(1);

  private final JsonCalls calls;

  HttpJobClient(ClientOptions server) {
    calls = JsonCalls.open(server);
  }

  private static String path(String job) {
    return "/api/jobs/" + JsonCalls.part(job);
  }

  @Override
  public <P> SubmittedJob submit(JobKind<P, ?> kind, P payload, JobOrder order) {
    byte[] bytes = kind.writePayload(payload);
    JsonNode response;
    try {
      response =
          calls.upload(
              "/api/jobs/submit/" + JsonCalls.part(kind.name()),
              JobForm.of(order.fields(), new ByteArrayInputStream(bytes), bytes.length));
    } catch (IOException e) {
      throw new IllegalStateException("bytes in memory cannot be read", e);
    }
    return new SubmittedJob(
        response.path("id").asString(),
        response.path("created").asString(),
        response.path("duplicate").asBoolean(false));
  }

  @Override
  public <R> R await(JobKind<?, R> kind, String job, Duration timeout)
      throws InterruptedException, TimeoutException, JobFailedException, IOException {
    long endNanos = System.nanoTime() + timeout.toNanos();
    while (true) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      long leftNanos = Math.clamp(endNanos - System.nanoTime(), 0, LONGEST_WAIT.toNanos());
      // The server counts whole seconds.
      long seconds = Math.ceilDiv(leftNanos, 1_000_000_000L);
      JsonNode state = calls.get(path(job) + "/wait?timeout=" + seconds);
      String id = state.path("id").asString();
      switch (state.path("status").asString()) {
        case "done" -> {
          try (InputStream result = calls.stream(path(id) + "/result", LONGEST_SILENCE)) {
            return kind.readResult(result);
          }
        }
        case "failed" -> throw failure(id);
        default -> {
          if (leftNanos == 0) {
            throw new TimeoutException(
                "job " + job + " has not ended in " + DurationText.show(timeout));
          }
        }
      }
    }
  }

  private JobFailedException failure(String id) throws StoreException {
    JsonNode failures = calls.read(path(id) + "/failures");
    JsonNode last = failures.path(failures.size() - 1);
    return new JobFailedException(
        last.path("info").asString("the job has failed"), last.path("logs").asString(null));
  }

  @Override
  public void cancel(String job) {
    JsonNode _ = calls.post(path(job) + "/cancel", JsonNodeFactory.instance.objectNode());
  }

  @Override
  public void close() {
    calls.close();
  }
}
