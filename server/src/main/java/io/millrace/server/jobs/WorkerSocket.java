package io.millrace.server.jobs;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.Request;
import io.millrace.http.Request.Change;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.http.websocket.WebSocket;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.Report;
import io.millrace.jobs.worker.WorkerConnection;
import io.millrace.jobs.worker.WorkerLink;
import io.millrace.jobs.worker.Workers;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** Workers over WebSocket. */
record WorkerSocket(
    JobRegistry registry,
    Workers workers,
    Types types,
    boolean needsToken,
    WebSocket.Limits limits) {
  /** The longest registration, which comes from a worker that has shown no token yet. */
  static final int MAX_REGISTRATION_BYTES = 64 << 10;

  private static final int GOING_AWAY = 1001;
  private static final int BROKEN = 1006;

  void addTo(ApiRoutes api) {
    api.limitable()
        .get("/worker", request -> open(request, types.none(request)))
        .get(
            "/worker/{type}",
            request -> open(request, types.named(request, request.parameter("type"))))
        // The path of the long poll stands where this type would.
        .get("/worker/next", request -> open(request, types.named(request, "next")));
  }

  private Response open(Request request, String type) {
    if (needsToken) {
      request.checkPace();
    }
    return request.webSocket(
        limits,
        socket -> {
          Link link = new Link(registry, socket, request, needsToken);
          WorkerConnection connection = workers.connect(type, link);
          link.connected(connection);
          return new Heard(connection);
        });
  }

  /** What the manager says. */
  private static final class Link implements WorkerLink {
    private final JobRegistry registry;
    private final WebSocket socket;
    private final Request request;
    private final boolean needsToken;
    private volatile @Nullable WorkerConnection connection;

    Link(JobRegistry registry, WebSocket socket, Request request, boolean needsToken) {
      this.registry = registry;
      this.socket = socket;
      this.request = request;
      this.needsToken = needsToken;
    }

    void connected(WorkerConnection end) {
      connection = end;
    }

    @Override
    public void say(String text) {
      socket.text(text);
    }

    @Override
    public void send(Job job, @Nullable String announcement) {
      note("job.claim", job, true);
      socket.binary(announcement, job.content().payload(), () -> payload(job));
    }

    @Override
    public void settled(Report report, boolean accepted) {
      Job job = report.assignment().job();
      switch (report) {
        case Report.Completed _ -> note("job.result", job, accepted);
        case Report.Failed _ -> note("job.failure", job, accepted);
        case Report.Returned _ -> {}
      }
    }

    @Override
    public boolean mayShowToken() {
      try {
        if (needsToken) {
          request.checkPace();
        }
        return true;
      } catch (HttpProblem _) {
        return false;
      }
    }

    @Override
    public void rejected(String token) {
      request.wrongSecret(token);
      request.changedBySocket("sign-in", new Change(null, "", 1, null, null), false);
    }

    /** Counts a change for the audit log. */
    private void note(String action, Job job, boolean done) {
      request.changedBySocket(action, Change.of(Area.TYPES, job.type(), job.id().toString()), done);
    }

    /** Null if the job is not to be sent any more. */
    private @Nullable InputStream payload(Job job) {
      WorkerConnection end = connection;
      if (end != null && !end.wants(job)) {
        return null;
      }
      InputStream payload = registry.payload(job).orElse(null);
      if (payload == null) {
        if (end != null) {
          end.missing(job);
        }
        return null;
      }
      return new Sent(payload);
    }

    /** A payload on its way: each part that is taken shows that the line moves. */
    private final class Sent extends FilterInputStream {
      Sent(InputStream payload) {
        super(payload);
      }

      @Override
      public int read(byte[] target, int offset, int length) throws IOException {
        WorkerConnection end = connection;
        if (end != null) {
          end.sending();
        }
        return super.read(target, offset, length);
      }
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
  private record Heard(WorkerConnection connection) implements WebSocket.Listener {
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
    public long textLimit() {
      return connection.registered() ? Long.MAX_VALUE : MAX_REGISTRATION_BYTES;
    }

    @Override
    public void closed(int code, String reason) {
      connection.disconnected(
          switch (code) {
            case GOING_AWAY -> null;
            case BROKEN -> "its connection broke";
            default ->
                "its connection was closed with " + code + (reason.isEmpty() ? "" : ": " + reason);
          });
    }
  }
}
