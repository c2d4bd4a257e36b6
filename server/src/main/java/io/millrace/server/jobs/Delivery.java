package io.millrace.server.jobs;

import io.millrace.http.PendingWait;
import io.millrace.http.Request;
import io.millrace.http.message.Reply;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.worker.PolledJobs;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Brings a job to a worker that has asked. Where it is seen not to arrive, since the worker has
 * gone or its answer cannot be written to the end, the job is offered again at once. What the
 * worker's system has taken counts as arrived.
 */
final class Delivery {
  private final JobRegistry registry;
  private final PolledJobs jobs;

  Delivery(JobRegistry registry, PolledJobs jobs) {
    this.registry = registry;
    this.jobs = jobs;
  }

  /** The answer that brings it; nothing where its payload is not there, which is told. */
  Reply of(Request request, Assignment assignment) {
    Job job = assignment.job();
    InputStream payload;
    try {
      payload = registry.payload(job).orElse(null);
    } catch (RuntimeException | Error e) {
      jobs.undelivered(assignment, "its payload cannot be read: " + e.getMessage());
      throw e;
    }
    if (payload == null) {
      jobs.missing(assignment);
      return Reply.nothing();
    }
    return new Reply.Streamed(
        200,
        Reply.BYTES,
        headers(assignment),
        job.content().payload(),
        target -> write(request, assignment, payload, target));
  }

  private void write(
      Request request, Assignment assignment, InputStream payload, OutputStream target)
      throws IOException {
    boolean arrived = false;
    NotingStream noting = new NotingStream(payload);
    try (noting) {
      if (isGone(request)) {
        throw new IOException("the worker has gone before its job could be sent");
      }
      Content.copy(noting, 0, assignment.job().content().payload(), target);
      target.flush();
      arrived = true;
    } finally {
      if (!arrived) {
        IOException unreadable = noting.failure();
        jobs.undelivered(
            assignment, unreadable == null ? null : "its payload cannot be read: " + unreadable);
      }
    }
  }

  /** Whether the worker has closed its connection while it waited. */
  private static boolean isGone(Request request) {
    AtomicBoolean gone = new AtomicBoolean();
    try (PendingWait _ =
        request.beginWait(cause -> gone.set(cause == PendingWait.Cause.CLIENT_GONE))) {
      return gone.get();
    }
  }

  private static Map<String, String> headers(Assignment assignment) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Millrace-Job-Id", assignment.job().id().toString());
    headers.put(
        "Millrace-Job-Key",
        URLEncoder.encode(assignment.job().key(), StandardCharsets.UTF_8).replace("+", "%20"));
    headers.put("Millrace-Job-Token", Long.toString(assignment.claim().token()));
    if (!assignment.job().type().isEmpty()) {
      headers.put("Millrace-Job-Type", assignment.job().type());
    }
    return headers;
  }
}
