package io.millrace.server.queues;

import io.millrace.http.PendingWait;
import io.millrace.http.Request;
import io.millrace.http.message.Response;
import io.millrace.queues.OutputReader;
import io.millrace.queues.OutputReader.Stream;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Status;
import io.millrace.server.queues.TaskRoutes.KnownTasks;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The output of a task as bytes, also while it runs. */
record OutputRoutes(KnownTasks tasks, OutputReader outputs) {
  /**
   * The pause between two looks at a followed task; its runner stores output at most once a second.
   */
  private static final long STEP_MILLIS = 250;

  void addTo(DciRoutes whole) {
    DciRoutes api = whole.limitable();
    for (Stream stream : Stream.values()) {
      api.getRaw(
          "/tasks/id/{id}/" + stream.word(),
          request -> respond(request, stream),
          "offset",
          "last",
          "follow");
    }
  }

  private Response respond(Request request, Stream stream) {
    String id = request.parameter("id");
    QueueTask task = tasks.find(request, id).task();
    long last = request.query().integer("last", Long.MAX_VALUE, 0, Long.MAX_VALUE);
    long offset =
        Math.max(
            request.query().integer("offset", 0, 0, Long.MAX_VALUE),
            last == Long.MAX_VALUE ? 0 : outputs.tail(task, stream).size() - last);
    boolean follow = request.query().bool("follow", false);
    return new Response.Streamed(
        200,
        Response.BYTES,
        Map.of("Millrace-Task-Status", Integer.toString(task.status())),
        -1,
        target -> {
          if (follow) {
            follow(request, stream, offset, target);
          } else {
            outputs.copy(task, stream, offset, target);
          }
        });
  }

  private void follow(Request request, Stream stream, long offset, OutputStream target)
      throws IOException, InterruptedException {
    CountDownLatch over = new CountDownLatch(1);
    try (PendingWait _ = request.beginWait(_ -> over.countDown())) {
      long at = offset;
      boolean live = true;
      while (live) {
        QueueTask task = tasks.find(request, request.parameter("id")).task();
        // Read before the output, so that nothing written before the end is missed.
        live = Status.isActive(task.status()) || task.status() == Status.QUEUED;
        at += outputs.copy(task, stream, at, target);
        target.flush();
        if (live && over.await(STEP_MILLIS, TimeUnit.MILLISECONDS)) {
          // The response breaks off instead of ending, so that the client sees that it is
          // incomplete.
          throw new IOException("the server stops, or the client has gone");
        }
      }
    } catch (Refusal _) {
      // The task no longer exists, so the stream ends.
    }
  }
}
