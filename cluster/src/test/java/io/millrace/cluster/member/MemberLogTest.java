package io.millrace.cluster.member;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.files.FileDocuments;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.work.SupervisedWork;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** The log of members at the default level, and the handling of exceptions of users' code. */
@Timeout(120)
final class MemberLogTest {
  private static final LeaseTerms TERMS = LeaseTerms.of(Duration.ofMillis(1500));

  private final Logger logger = (Logger) LoggerFactory.getLogger("io.millrace.cluster");
  private final BlockingQueue<ILoggingEvent> events = new LinkedBlockingQueue<>();
  private final List<ILoggingEvent> seen = new ArrayList<>();
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          events.add(event);
        }
      };
  private final List<Member> members = new ArrayList<>();
  private final VersionedDocuments documents;

  MemberLogTest(@TempDir Path folder) {
    documents = FileDocuments.open(folder);
  }

  @BeforeEach
  void listen() {
    logger.setLevel(Level.INFO);
    appender.start();
    logger.addAppender(appender);
  }

  @AfterEach
  void stop() {
    members.forEach(Member::close);
    logger.detachAppender(appender);
    logger.setLevel(null);
    documents.close();
  }

  private Member start(SupervisedWork work) {
    Member member = Member.start(documents, 1, TERMS, ClusterWork.of(work));
    members.add(member);
    return member;
  }

  private void await(Predicate<ILoggingEvent> what, String description)
      throws InterruptedException {
    while (true) {
      ILoggingEvent event = events.poll(30, TimeUnit.SECONDS);
      assertThat(event).as(description + " after " + seen).isNotNull();
      seen.add(event);
      if (what.test(event)) {
        return;
      }
    }
  }

  private void await(String start) throws InterruptedException {
    await(event -> event.getFormattedMessage().startsWith(start), start);
  }

  /** All log lines so far. */
  private List<ILoggingEvent> all() {
    events.drainTo(seen);
    return seen;
  }

  private void assertNoFailure() {
    assertThat(all())
        .allSatisfy(event -> {
          assertThat(event.getLevel()).as(event.toString()).isEqualTo(Level.INFO);
          assertThat(event.getThrowableProxy()).as(event.toString()).isNull();
        });
  }

  /** Work of one part, which by default runs until it is interrupted. */
  private static class OnePart implements SupervisedWork {
    final CountDownLatch runs = new CountDownLatch(1);

    @Override
    public List<byte[]> divide(int workers) {
      return List.of(new byte[] {1});
    }

    @Override
    public void run(byte[] task, Guard guard) throws Exception {
      runs.countDown();
      new CountDownLatch(1).await();
    }
  }

  @Test
  void changes_of_leader_and_of_members_are_logged() throws InterruptedException {
    Member leader = start(new OnePart());
    await("Member " + leader.token() + " leads with fence ");
    Member second = start(new OnePart());
    await("Member " + second.token() + " has joined with 1 workers");
    second.close();
    await("Member " + second.token() + " has left");
    MemberList.add(documents, new Peer("crashed", 1));
    await("Member crashed has joined");
    await("Members [crashed] are gone");
    leader.close();
    await("Member " + leader.token() + " does not lead any more");
    assertNoFailure();
  }

  @Test
  void stopped_work_is_not_logged_as_failed_whatever_it_throws() throws InterruptedException {
    OnePart work =
        new OnePart() {
          @Override
          public void run(byte[] task, Guard guard) throws Exception {
            try {
              super.run(task, guard);
            } catch (InterruptedException e) {
              throw new UncheckedIOException(new ClosedByInterruptException());
            }
          }
        };
    Member member = start(work);
    assertThat(work.runs.await(30, TimeUnit.SECONDS)).as("runs").isTrue();
    member.close();
    assertThat(all())
        .extracting(ILoggingEvent::getFormattedMessage)
        .filteredOn(
            message -> message.contains(" was stopped: " + UncheckedIOException.class.getName()))
        .hasSize(1);
    assertNoFailure();
  }

  @Test
  void a_division_that_is_interrupted_when_the_member_closes_is_not_logged_as_failed()
      throws InterruptedException {
    CountDownLatch divides = new CountDownLatch(1);
    OnePart work =
        new OnePart() {
          @Override
          public List<byte[]> divide(int workers) {
            divides.countDown();
            try {
              new CountDownLatch(1).await();
            } catch (InterruptedException e) {
              throw new IllegalStateException("interrupted", e);
            }
            return List.of();
          }
        };
    Member member = start(work);
    assertThat(divides.await(30, TimeUnit.SECONDS)).as("divides").isTrue();
    member.close();
    await("Member " + member.token() + " does not lead any more");
    assertNoFailure();
  }

  @Test
  void work_that_throws_an_error_is_tried_again_after_its_lease() throws InterruptedException {
    AtomicInteger attempts = new AtomicInteger();
    OnePart work =
        new OnePart() {
          @Override
          public void run(byte[] task, Guard guard) throws Exception {
            if (attempts.incrementAndGet() == 1) {
              throw new Error("of a kind that nobody expects");
            }
            super.run(task, guard);
          }
        };
    Member member = start(work);
    await(event -> event.getLevel() == Level.ERROR, "the error");
    assertThat(work.runs.await(30, TimeUnit.SECONDS)).as("runs again").isTrue();
    assertThat(member.isLeader()).isTrue();
  }

  @Test
  void a_leader_whose_division_throws_an_error_divides_again() throws InterruptedException {
    AtomicInteger divisions = new AtomicInteger();
    OnePart work =
        new OnePart() {
          @Override
          public List<byte[]> divide(int workers) {
            if (divisions.incrementAndGet() == 1) {
              throw new NoClassDefFoundError("of users' code");
            }
            return super.divide(workers);
          }
        };
    Member member = start(work);
    await("The leader's work could not be assigned");
    assertThat(work.runs.await(30, TimeUnit.SECONDS)).as("runs").isTrue();
    assertThat(member.token()).isNotEmpty();
  }
}
