package io.millrace.cli.cluster;

import io.millrace.cli.log.ProcessLog;
import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.StopSignals;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.member.ClusterWork;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.membership.ClusterConfig;
import io.millrace.cluster.membership.Peer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A member of a cluster, until it is told to stop. */
@Command(
    name = "member",
    description = {
      "Runs a member of a cluster. It takes part in the election of the leader, works on"
          + " partitions, and takes over the work of members that are gone.",
      "The lease, the margin and the example or program of the first member are stored in the"
          + " documents. Later members need only --documents, and --secret-file and --classpath if"
          + " the first one has them. On SIGTERM or SIGINT the member releases what it holds and"
          + " ends."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:stopped on request",
      "1:the documents cannot be reached or used",
      "2:the command line is wrong, or differs from the configuration of the cluster"
    })
public final class MemberCommand extends TerminalUser implements Callable<Integer> {
  /** A busy search engine takes its time to create what the first member needs. */
  private static final Duration START_TIMEOUT = Duration.ofSeconds(20);

  @Mixin private DocumentsOptions documents = new DocumentsOptions();

  @Mixin private ExampleOptions example = new ExampleOptions();

  @Mixin private RemoteCode.RemoteOptions program = new RemoteCode.RemoteOptions();

  @Option(
      names = "--workers",
      paramLabel = "N",
      defaultValue = "1",
      description = "The number of partitions to work on at a time, 1 to 10000. Default: 1")
  private int workers;

  @Option(
      names = "--lease",
      paramLabel = "TIME",
      converter = Durations.class,
      description = "How long a lock is valid without being renewed, 100ms to 1d. Default: 10s")
  private @Nullable Duration lease;

  @Option(
      names = "--margin",
      paramLabel = "TIME",
      converter = Durations.class,
      description = {
        "How much longer than the lease other members wait before they take over, because clocks"
            + " run at different speeds.",
        "Default: a fifth of the lease"
      })
  private @Nullable Duration margin;

  @Override
  public Integer call() throws InterruptedException {
    checkWorkers();
    ProcessLog log = ProcessLog.starting("member");
    int code = ExitCode.FAILURE;
    try (RemoteCode remote = program.open()) {
      Plan plan = Plan.of(example.plan(), program.plan(), remote);
      ClusterConfig config = config(plan, remote);
      new Plan(config.plan()).check(remote);
      checkAgainst(config, plan);
      run(config, remote, log);
      code = ExitCode.OK;
      return code;
    } finally {
      log.stopped(code);
    }
  }

  private ClusterConfig config(Plan plan, RemoteCode remote) {
    Optional<ClusterConfig> given = given(plan);
    terminal().warn(documents.warning());
    try (VersionedDocuments first = documents.open(START_TIMEOUT)) {
      // A plan that fails on this member must not become the plan of the cluster.
      plan.clusterWork(new Example.Context(first, remote));
      ClusterConfig mine = given.orElseGet(() -> new ClusterConfig(LeaseTerms.DEFAULT, Map.of()));
      return mine.orExisting(first);
    }
  }

  private void run(ClusterConfig config, RemoteCode remote, ProcessLog log)
      throws InterruptedException {
    LeaseTerms terms = config.terms();
    // Two requests may fail between one renewal and the end of the lease.
    Duration timeout = terms.lease().dividedBy(4);
    try (VersionedDocuments shared = documents.open(timeout)) {
      ClusterWork clusterWork =
          new Plan(config.plan()).clusterWork(new Example.Context(shared, remote));
      try (Member member = Member.start(shared, workers, terms, clusterWork)) {
        CountDownLatch stop = new CountDownLatch(1);
        StopSignals.listen(stop::countDown);
        out()
            .printf(
                "Millrace member %s on %s, %d workers, %s%n",
                member.token(), documents.address(), workers, config);
        stop.await();
        log.stopping();
      }
    }
  }

  private void checkWorkers() {
    if (workers < 1 || workers > Peer.MAX_WORKERS) {
      throw new UsageException("--workers is 1 to %d, not %d".formatted(Peer.MAX_WORKERS, workers));
    }
  }

  /** The configuration that the command line gives for a new cluster; empty if it gives none. */
  private Optional<ClusterConfig> given(Plan plan) {
    if (lease == null && margin == null && plan.values().isEmpty()) {
      return Optional.empty();
    }
    try {
      LeaseTerms terms = lease == null ? LeaseTerms.DEFAULT : LeaseTerms.of(lease);
      return Optional.of(
          new ClusterConfig(
              margin == null ? terms : new LeaseTerms(terms.lease(), margin), plan.values()));
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
  }

  /** Checks that the options given do not differ from the configuration of the cluster. */
  private void checkAgainst(ClusterConfig config, Plan plan) {
    LeaseTerms terms = config.terms();
    boolean otherLease = lease != null && !lease.equals(terms.lease());
    boolean otherMargin = margin != null && !margin.equals(terms.margin());
    boolean otherPlan = !plan.values().isEmpty() && !plan.values().equals(config.plan());
    if (otherLease || otherMargin || otherPlan) {
      throw new UsageException(
          "the configuration of the cluster on %s is %s; leave these options out, or create"
                  .formatted(documents.address(), config)
              + " another cluster");
    }
  }
}
