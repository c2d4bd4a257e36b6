package io.millrace.jobs.worker;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.Value;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.Report;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The protocol as the server follows it on one connection. */
final class Conversation implements WorkerConnection {
  private static final Logger LOG = LoggerFactory.getLogger(Conversation.class);

  /** Why what is said of a lost job is refused. */
  static final String LATE = "the job was taken from you";

  private final Floor floor;
  private final Post post;
  private boolean ignored;

  Conversation(Floor floor, Post post) {
    this.floor = floor;
    this.post = post;
  }

  @Override
  public void hear(String text) {
    WorkerMessage message;
    try {
      message = MessageReader.read(text);
    } catch (MalformedMessageException e) {
      refuse(CloseCode.MALFORMED, String.valueOf(e.getMessage()));
      return;
    }
    if (message instanceof WorkerMessage.Register(Registration who) && floor.isRight(who)) {
      floor.roster().history().recall(who.id());
    }
    synchronized (floor) {
      if (counts()) {
        floor.heard(post);
        follow(message);
      }
    }
  }

  private boolean counts() {
    return !post.closed() && !post.rejected();
  }

  private void refuse(int code, String reason) {
    synchronized (floor) {
      if (counts()) {
        floor.end(post, code, reason);
      }
    }
  }

  private void follow(WorkerMessage message) {
    if (post.registration() == null && !(message instanceof WorkerMessage.Register)) {
      ignore("the first message is the registration, code 0");
      return;
    }
    switch (message) {
      case WorkerMessage.Unknown(String what) -> ignore(what);
      case WorkerMessage.Register(Registration who) -> register(who);
      case WorkerMessage.Status(boolean ready) -> status(ready);
      case WorkerMessage.Advanced advanced -> advanced(advanced);
      case WorkerMessage.Failed failed -> failed(failed);
      case WorkerMessage.ResultFollows(JobId job) -> resultFollows(job);
    }
  }

  /** A message that GridLike would have passed over too; said once for each connection. */
  private void ignore(String what) {
    Registration who = post.registration();
    String id = who == null ? "that has not registered" : who.id().toString();
    if (ignored) {
      LOG.debug("a message of worker {} is ignored: {}", id, what);
    } else {
      ignored = true;
      LOG.info("a message of worker {} is ignored, and others like it: {}", id, what);
    }
  }

  /**
   * A message about a job that the worker does not have. A worker of one job may go on: if a job
   * was lost on the way, it is taken back after {@code stuckAfter}. Every status of a worker of
   * several jobs is a sign of life for all of them, so such a job would stay lost.
   */
  private void unheld(String what) {
    if (post.capacity() > 1) {
      floor.end(post, CloseCode.NOT_ALLOWED, what);
    } else {
      ignore(what);
    }
  }

  private void register(Registration who) {
    if (post.registration() != null) {
      ignore("it has registered already");
    } else if (floor.isRight(who)) {
      floor.register(post, who);
    } else {
      LOG.warn("a worker that calls itself {} came with a wrong token", who.id());
      post.reject();
    }
  }

  private void status(boolean ready) {
    long now = floor.nanos();
    for (Held held : post.jobs().values().toArray(Held[]::new)) {
      if (!ready || post.capacity() > 1) {
        held.sign(now);
      } else if (held.lost()) {
        post.jobs().remove(held.id());
      } else if (held.asked()) {
        floor.takeBack(held, "its worker says that it is ready, so it has lost the job");
        post.jobs().remove(held.id());
      }
    }
    post.say(ready ? Post.Said.READY : Post.Said.BUSY);
    floor.review(post);
  }

  private void advanced(WorkerMessage.Advanced message) {
    Held held = held(message.job());
    if (held == null) {
      unheld("progress of a job that it does not have");
    } else {
      floor.advance(held, new Progress(message.percent(), message.info(), floor.millis()));
      if (held.lost()) {
        floor.reports().tell(post, held.assignment(), LATE);
      }
    }
  }

  private void failed(WorkerMessage.Failed message) {
    Held held = held(message.job());
    if (held == null) {
      unheld("the failure of a job that it does not have");
      return;
    }
    if (held.counts()) {
      held.finish();
      Failure failure =
          new Failure(held.assignment().worker(), floor.millis(), message.info(), message.logs());
      floor.report(post, new Report.Failed(held.assignment(), failure));
    } else {
      floor.reports().late(held, LATE);
    }
    freed(held);
  }

  private void resultFollows(JobId job) {
    if (held(job) == null) {
      floor.end(post, CloseCode.NOT_ALLOWED, "the result of a job that it does not have");
    } else {
      post.announce(job);
    }
  }

  /** The job that a message is about; null when the worker does not have it, or any. */
  private @Nullable Held held(@Nullable JobId job) {
    if (job != null) {
      return post.jobs().get(job);
    }
    return post.jobs().size() == 1 ? post.jobs().values().iterator().next() : null;
  }

  @Override
  public void receive(InputStream result) throws IOException {
    Held held;
    synchronized (floor) {
      held = beginResult();
    }
    if (held == null) {
      Intake.drop(result);
      return;
    }
    Optional<Value> kept = Optional.empty();
    try {
      kept = floor.intake().keep(held.assignment(), result, () -> stillCounts(held));
    } catch (BlobException e) {
      LOG.error("the result of job {} cannot be kept", held.id(), e);
      refuse(CloseCode.SERVER_ERROR, "the server cannot keep the result now");
      return;
    }
    synchronized (floor) {
      endResult(held, kept.orElse(null));
    }
  }

  private @Nullable Held beginResult() {
    if (!counts()) {
      return null;
    }
    floor.heard(post);
    JobId announced = post.announced();
    post.announce(null);
    Held held = post.capacity() > 1 && announced == null ? null : held(announced);
    if (held == null) {
      floor.end(
          post,
          CloseCode.NOT_ALLOWED,
          post.capacity() > 1 ? "a result comes after code 6" : "a result without a job");
    }
    return held;
  }

  private boolean stillCounts(Held held) {
    synchronized (floor) {
      floor.heard(post);
      // It cannot say anything of its other jobs until the result is through.
      post.jobs().values().forEach(other -> other.sign(floor.nanos()));
      return held.counts() && !post.closed();
    }
  }

  private void endResult(Held held, @Nullable Value kept) {
    if (post.closed()) {
      return;
    }
    if (kept != null && held.counts()) {
      held.finish();
      floor.report(post, new Report.Completed(held.assignment(), kept));
    } else {
      floor.reports().late(held, LATE);
    }
    freed(held);
  }

  /** A worker that has said "busy" since it was last ready is asked; another is ready. */
  private void freed(Held held) {
    floor.free(held);
    post.jobs().remove(held.id());
    if (post.said() != Post.Said.READY) {
      post.say(Post.Said.NOTHING);
      post.ask(floor.nanos());
    }
    floor.review(post);
  }

  @Override
  public void alive() {
    synchronized (floor) {
      floor.heard(post);
    }
  }

  @Override
  public boolean wants(Job job) {
    synchronized (floor) {
      Held held = given(job);
      if (held != null && held.lost()) {
        floor.forget(held);
        return false;
      }
      if (held != null) {
        held.sent();
      }
      return held != null;
    }
  }

  @Override
  public void missing(Job job) {
    synchronized (floor) {
      Held held = given(job);
      if (held != null) {
        floor.missing(held);
      }
    }
  }

  /** The attempt that was given to the worker; null where it has it no more, or another. */
  private @Nullable Held given(Job job) {
    Held held = post.jobs().get(job.id());
    return held != null && held.assignment().claim().equals(job.hand().claim()) ? held : null;
  }

  @Override
  public void sending() {
    synchronized (floor) {
      floor.heard(post);
      post.jobs().values().forEach(held -> held.sign(floor.nanos()));
    }
  }

  @Override
  public boolean registered() {
    synchronized (floor) {
      return post.registration() != null;
    }
  }

  @Override
  public void disconnected(@Nullable String fault) {
    synchronized (floor) {
      floor.gone(post, fault);
    }
  }
}
