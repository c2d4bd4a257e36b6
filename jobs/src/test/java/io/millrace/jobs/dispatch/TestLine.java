package io.millrace.jobs.dispatch;

import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.worker.WorkerConnection;
import io.millrace.jobs.worker.WorkerLink;
import io.millrace.jobs.worker.Workers;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Both ends of a worker's connection in a test: notes what the server says. */
final class TestLine implements WorkerLink {
  private final List<String> heard = new ArrayList<>();
  private final WorkerConnection connection;

  /** Payloads that wait until the line is free; null while it is. */
  private @Nullable List<Job> waiting;

  private TestLine(Workers workers, String type) {
    this.connection = workers.connect(type, this);
  }

  static TestLine open(Workers workers) {
    return new TestLine(workers, "");
  }

  /** A worker that has registered and is ready. */
  static TestLine ready(Workers workers, String id) {
    return ready(workers, "", id);
  }

  /** The same for the jobs of a type. */
  static TestLine ready(Workers workers, String type, String id) {
    TestLine line = new TestLine(workers, type);
    line.tell("{\"code\":0,\"name\":\"n\",\"id\":\"" + id + "\",\"token\":\"right\"}");
    line.tell("{\"code\":1,\"status\":1}");
    line.heard();
    return line;
  }

  void tell(String message) {
    connection.hear(message);
  }

  /** Says how far a job is. */
  void progress(Job job, int percent) {
    tell("{\"code\":3,\"percent\":" + percent + ",\"info\":null,\"job\":\"" + job.id() + "\"}");
  }

  void result(String text) {
    try {
      connection.receive(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Other bytes are on the line: payloads wait. */
  void jam() {
    waiting = new ArrayList<>();
  }

  /** The line is free: those payloads go that are there and still wanted. */
  void clear(JobRegistry registry) {
    List<Job> turn = waiting == null ? List.of() : waiting;
    waiting = null;
    for (Job job : turn) {
      if (connection.wants(job)) {
        if (registry.payload(job).isPresent()) {
          heard.add("payload of " + job.key());
        } else {
          connection.missing(job);
        }
      }
    }
  }

  void pong() {
    connection.alive();
  }

  void breakOff() {
    connection.disconnected("its connection broke");
  }

  /** Goes in good order. */
  void leave() {
    connection.disconnected(null);
  }

  /** What the server has said since the last call. */
  List<String> heard() {
    List<String> all = List.copyOf(heard);
    heard.clear();
    return all;
  }

  @Override
  public void say(String text) {
    heard.add(text);
  }

  @Override
  public void send(Job job, @Nullable String announcement) {
    if (waiting != null) {
      waiting.add(job);
    } else if (connection.wants(job)) {
      heard.add("payload of " + job.key());
    }
  }

  @Override
  public void ping() {
    heard.add("ping");
  }

  @Override
  public void close(int code, String reason) {
    heard.add("closed " + code + " " + reason);
  }
}
