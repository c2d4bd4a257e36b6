package io.millrace.store.kernel;

import io.millrace.store.Journaling;
import io.millrace.store.journal.Frame;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.JournalRecord;
import java.util.List;

/**
 * Where what the engine has done leaves the loop: into the journal, and once the disk has it to
 * those who asked, to subscribers and to snapshots. For the loop's thread.
 */
final class Outlets {
  private final Journaling journaling;
  private final JournalFeed feed;
  private final Broadcast broadcast;
  private final Snapshots snapshots;
  private final Answers answers;
  private boolean sealed;

  Outlets(Journaling journaling, JournalFeed feed, Broadcast broadcast, Snapshots snapshots) {
    this.journaling = journaling;
    this.feed = feed;
    this.broadcast = broadcast;
    this.snapshots = snapshots;
    this.answers = new Answers(feed, journaling);
  }

  JournalFeed feed() {
    return feed;
  }

  Broadcast broadcast() {
    return broadcast;
  }

  Snapshots snapshots() {
    return snapshots;
  }

  Answers answers() {
    return answers;
  }

  /**
   * Hands over what was gathered where the journal is free for it. In a strict store, whose callers
   * wait for the disk, it also does so when there is nothing to add at present.
   *
   * @param more whether messages are there that add to the group
   */
  void flush(Engine engine, long nowMillis, boolean more) {
    boolean soon = !more && journaling == Journaling.STRICT;
    Frame frame = feed.flush(nowMillis, engine.state().commits(), soon);
    if (frame != null) {
      snapshots.noteFrame(frame);
    }
    if (!sealed && !feed.isGathering()) {
      snapshots.consider(engine.state(), engine.history());
    }
  }

  /** Gives out what has become durable. */
  void release() {
    List<Event> durable = feed.takeDurable();
    if (!durable.isEmpty()) {
      broadcast.publish(durable);
      snapshots.noteDurable();
    }
    answers.release();
  }

  /**
   * Ends the journal in order.
   *
   * @return whether everything is durable and given out; else to be called again after a signal
   */
  boolean seal(Engine engine, long nowMillis) {
    if (!sealed) {
      sealed = true;
      feed.add(new JournalRecord.Closed());
    }
    flush(engine, nowMillis, false);
    release();
    if (!feed.isIdle() || !answers.isEmpty()) {
      return false;
    }
    broadcast.close();
    return true;
  }

  /** Ends at once: what is not durable may never be. */
  void stop(Throwable cause) {
    try {
      answers.release();
      answers.fail(cause);
    } finally {
      snapshots.stop();
      broadcast.close();
    }
  }
}
