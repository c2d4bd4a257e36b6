package io.millrace.server.jobs;

import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.worker.WorkerConnection;
import io.millrace.jobs.worker.WorkerLink;
import io.millrace.jobs.worker.Workers;
import io.millrace.server.http.HttpMethod;
import io.millrace.server.http.Reply;
import io.millrace.server.http.Request;
import io.millrace.server.websocket.WebSocket;
import io.millrace.server.websocket.WebSocketLimits;
import io.millrace.server.websocket.WebSocketListener;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** Workers over WebSocket. */
final class WorkerSocket {
  private final JobRegistry registry;
  private final Workers workers;
  private final Types types;
  private final WebSocketLimits limits;

  WorkerSocket(JobRegistry registry, Workers workers, Types types, WebSocketLimits limits) {
    this.registry = registry;
    this.workers = workers;
    this.types = types;
    this.limits = limits;
  }

  void mount(ApiMount mount) {
    mount.forWorkers(HttpMethod.GET, "/worker", request -> open(request, types.none()));
    mount.forWorkers(
        HttpMethod.GET,
        "/worker/{type}",
        request -> open(request, types.named(request.parameter("type"))));
    // The path of the long poll stands where this type would.
    mount.forWorkers(HttpMethod.GET, "/worker/next", request -> open(request, types.named("next")));
  }

  private Reply open(Request request, String type) {
    return request.webSocket(
        limits, socket -> new Heard(workers.connect(type, new Link(registry, socket))));
  }

  /** What the manager says. */
  private record Link(JobRegistry registry, WebSocket socket) implements WorkerLink {
    @Override
    public void say(String text) {
      socket.text(text);
    }

    @Override
    public void send(Job job, @Nullable String announcement) {
      socket.binary(announcement, job.content().payload(), () -> payload(job));
    }

    private InputStream payload(Job job) throws IOException {
      return registry
          .payload(job)
          .orElseThrow(() -> new FileNotFoundException("the job " + job.id() + " is gone"));
    }

    @Override
    public void ping() {
      socket.ping();
    }

    @Override
    public void close(int code, String reason) {
      socket.close(code, reason);
    }
  }

  /** What the worker says. */
  private record Heard(WorkerConnection connection) implements WebSocketListener {
    @Override
    public void text(String text) {
      connection.hear(text);
    }

    @Override
    public void binary(InputStream message) throws IOException {
      connection.receive(message);
    }

    @Override
    public void alive() {
      connection.alive();
    }

    @Override
    public void closed() {
      connection.disconnected();
    }
  }
}
