package io.millrace.jobs.worker;

import io.millrace.blobs.BlobException;
import io.millrace.blobs.Value;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.Report;
import io.millrace.jobs.worker.ActiveJobs.ActiveJob;
import io.millrace.jobs.worker.WorkerMessages.Message;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The worker protocol on one connection, from the server's side. */
final class WorkerProtocol implements WorkerConnection {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerProtocol.class);

  /** Why a report on a job is refused that was taken from the worker. */
  static final String REVOKED = "the job was taken from you";

  private final WorkerManager workers;
  private final WorkerSession session;
  private boolean ignored;

  WorkerProtocol(WorkerManager workers, WorkerSession session) {
    this.workers = workers;
    this.session = session;
  }

  @Override
  public void hear(String text) {
    Message message;
    try {
      message = WorkerMessages.read(text);
    } catch (WorkerMessages.MalformedException e) {
      refuse(WorkerLink.MALFORMED, String.valueOf(e.getMessage()));
      return;
    }
    if (message instanceof Message.Register(Registration who)) {
      if (!session.link().mayShowToken()) {
        refuse(WorkerLink.TRY_LATER, "too many failed attempts; try again later");
        return;
      }
      if (workers.isRight(who)) {
        workers.history().recall(who.id());
      }
    }
    synchronized (workers) {
      if (counts()) {
        workers.heard(session);
        follow(message);
      }
    }
  }

  private boolean counts() {
    return !session.closed() && !session.rejected();
  }

  private void refuse(int code, String reason) {
    synchronized (workers) {
      if (counts()) {
        workers.end(session, code, reason);
      }
    }
  }

  private void follow(Message message) {
    if (session.registration() == null && !(message instanceof Message.Register)) {
      ignore("the first message is the registration, code 0");
      return;
    }
    switch (message) {
      case Message.Unknown(String what) -> ignore(what);
      case Message.Register(Registration who) -> register(who);
      case Message.Status(boolean ready) -> status(ready);
      case Message.Advanced advanced -> advanced(advanced);
      case Message.Failed failed -> failed(failed);
      case Message.ResultFollows(JobId id) -> resultFollows(id);
    }
  }

  /** Ignores a message, as GridLike does. The log names the first one of a connection. */
  private void ignore(String what) {
    Registration who = session.registration();
    String id = who == null ? "that has not registered" : who.id().toString();
    if (ignored) {
      LOG.debug("a message of worker {} is ignored: {}", id, what);
    } else {
      ignored = true;
      LOG.info("a message of worker {} is ignored, and others like it: {}", id, what);
    }
  }

  /**
   * Answers a message about a job that the worker does not have. A worker of one job may go on: if
   * its job was lost, the job is taken back after {@code stuckAfter}. But every status of a worker
   * of several jobs is a sign of life for all of them, so a lost job would never be taken back.
   */
  private void unknownJob(String what) {
    if (session.capacity() > 1) {
      workers.end(session, WorkerLink.NOT_ALLOWED, what);
    } else {
      ignore(what);
    }
  }

  private void register(Registration who) {
    if (session.registration() != null) {
      ignore("it has registered already");
    } else if (workers.isRight(who)) {
      workers.register(session, who);
    } else {
      LOG.warn("worker {} was refused: its token is wrong", who.id());
      session.reject();
      session.link().rejected(who.token());
    }
  }

  private void status(boolean ready) {
    long now = workers.nanos();
    for (ActiveJob job : session.jobs().values().toArray(ActiveJob[]::new)) {
      if (!ready || session.capacity() > 1) {
        job.sign(now);
      } else if (job.revoked()) {
        session.jobs().remove(job.id());
      } else if (job.asked()) {
        workers.takeBack(job, "its worker says that it is ready, so it has lost the job");
        session.jobs().remove(job.id());
      }
    }
    session.status(ready ? WorkerSession.Status.READY : WorkerSession.Status.BUSY);
    workers.updateReadiness(session);
  }

  private void advanced(Message.Advanced message) {
    ActiveJob job = job(message.job());
    if (job == null) {
      unknownJob("progress of a job that it does not have");
    } else {
      workers.progress(job, new Progress(message.percent(), message.info(), workers.millis()));
      if (job.revoked()) {
        workers.reports().tell(session, job.assignment(), REVOKED);
      }
    }
  }

  private void failed(Message.Failed message) {
    ActiveJob job = job(message.job());
    if (job == null) {
      unknownJob("the failure of a job that it does not have");
      return;
    }
    if (job.counts()) {
      job.finish();
      Failure failure =
          new Failure(
              job.assignment().worker(),
              workers.millis(),
              message.info(),
              message.logs(),
              message.wish());
      workers.report(session, new Report.Failed(job.assignment(), failure));
    } else {
      workers.reports().late(job, REVOKED);
    }
    freed(job);
  }

  private void resultFollows(JobId id) {
    if (job(id) == null) {
      workers.end(session, WorkerLink.NOT_ALLOWED, "the result of a job that it does not have");
    } else {
      session.announce(id);
    }
  }

  /** The job that a message is about, the only one for null; null if the worker has none such. */
  private @Nullable ActiveJob job(@Nullable JobId id) {
    if (id != null) {
      return session.jobs().get(id);
    }
    return session.jobs().size() == 1 ? session.jobs().values().iterator().next() : null;
  }

  @Override
  public void receive(InputStream result) throws IOException {
    ActiveJob job;
    synchronized (workers) {
      job = beginResult();
    }
    if (job == null) {
      ResultUpload.drop(result);
      return;
    }
    Optional<Value> kept = Optional.empty();
    try {
      kept = workers.upload().keep(job.assignment(), result, () -> stillCounts(job));
    } catch (BlobException e) {
      LOG.error("the result of job {} cannot be kept", job.id(), e);
      refuse(WorkerLink.SERVER_ERROR, "the server cannot keep the result now");
      return;
    }
    synchronized (workers) {
      endResult(job, kept.orElse(null));
    }
  }

  private @Nullable ActiveJob beginResult() {
    if (!counts()) {
      return null;
    }
    workers.heard(session);
    JobId announced = session.announced();
    session.announce(null);
    ActiveJob job = session.capacity() > 1 && announced == null ? null : job(announced);
    if (job == null) {
      workers.end(
          session,
          WorkerLink.NOT_ALLOWED,
          session.capacity() > 1 ? "a result comes after code 6" : "a result without a job");
    }
    return job;
  }

  private boolean stillCounts(ActiveJob job) {
    synchronized (workers) {
      workers.heard(session);
      // The worker cannot send anything about its other jobs until the result is through.
      session.jobs().values().forEach(other -> other.sign(workers.nanos()));
      return job.counts() && !session.closed();
    }
  }

  private void endResult(ActiveJob job, @Nullable Value kept) {
    if (session.closed()) {
      return;
    }
    if (kept != null && job.counts()) {
      job.finish();
      workers.report(session, new Report.Completed(job.assignment(), kept));
    } else {
      workers.reports().late(job, REVOKED);
    }
    freed(job);
  }

  /** The worker has ended a job. It is ready for the next, or asked if it has said "busy". */
  private void freed(ActiveJob job) {
    workers.free(job);
    session.jobs().remove(job.id());
    if (session.status() != WorkerSession.Status.READY) {
      session.status(WorkerSession.Status.UNKNOWN);
      session.askStatus(workers.nanos());
    }
    workers.updateReadiness(session);
  }

  @Override
  public void alive() {
    synchronized (workers) {
      workers.heard(session);
    }
  }

  @Override
  public boolean wants(Job job) {
    synchronized (workers) {
      ActiveJob given = given(job);
      if (given == null) {
        return false;
      }
      if (given.revoked()) {
        workers.forget(given);
        return false;
      }
      given.sent();
      return true;
    }
  }

  @Override
  public void missing(Job job) {
    synchronized (workers) {
      ActiveJob given = given(job);
      if (given != null) {
        workers.missing(given);
      }
    }
  }

  /** The attempt that was given to the worker; null if the worker no longer has it. */
  private @Nullable ActiveJob given(Job job) {
    ActiveJob given = session.jobs().get(job.id());
    return given != null && given.assignment().claim().equals(job.hand().claim()) ? given : null;
  }

  @Override
  public void sending() {
    synchronized (workers) {
      workers.heard(session);
      session.jobs().values().forEach(job -> job.sign(workers.nanos()));
    }
  }

  @Override
  public boolean registered() {
    synchronized (workers) {
      return session.registration() != null;
    }
  }

  @Override
  public void disconnected(@Nullable String fault) {
    synchronized (workers) {
      workers.disconnected(session, fault);
    }
  }
}
