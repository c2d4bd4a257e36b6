package io.millrace.journal.shared;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a leader leaves when it is closed, so that the next one need not wait for its lease. */
class ResignationTest {
  private final FailingBucket bucket = new FailingBucket();

  /** A bucket in which some of the next objects cannot be created. */
  private static final class FailingBucket extends MemoryBucket {
    private final AtomicInteger failures = new AtomicInteger();

    @Override
    public boolean create(String key, byte[] content) throws IOException {
      if (failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
        throw new IOException("the bucket is away");
      }
      return super.create(key, content);
    }
  }

  private static final class Ignored implements Journal.Replay {
    @Override
    public Runnable snapshotPart(ByteBuffer payload) {
      return () -> {};
    }

    @Override
    public void reset() {}

    @Override
    public void frame(Frame frame) {}
  }

  private SharedJournal open() {
    return SharedJournal.open(Environment.system(), bucket.location());
  }

  private boolean isVacant() {
    try (SharedJournal journal = open()) {
      return journal.pulse().vacant();
    }
  }

  @Test
  void a_resignation_that_fails_is_repeated() {
    try (SharedJournal journal = open()) {
      Journal.Leader leader = journal.lead(new Ignored(), 0);
      leader.append(new Frame(1, 1, 7, 1_000, 0, 0, ByteBuffer.allocate(8))).join();
      assertThat(isVacant()).isFalse();
      bucket.failures.set(2);
    }
    assertThat(bucket.failures).hasValue(0);
    assertThat(isVacant()).isTrue();
  }
}
