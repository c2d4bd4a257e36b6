package io.millrace.cluster.remote;

import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.files.FileDocuments;
import io.millrace.cluster.lambda.ClusterSecret;
import io.millrace.cluster.lambda.LambdaCodec;
import io.millrace.cluster.lambda.TrustedClasses;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.member.ClusterWork;
import io.millrace.cluster.member.Member;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Several members in one process, whose leader's program is controlled by the test. */
final class RemoteCluster implements AutoCloseable {
  static final LeaseTerms TERMS = LeaseTerms.of(Duration.ofSeconds(3));

  private final VersionedDocuments documents;
  private final BlockingQueue<RemoteExecutor> executors = new LinkedBlockingQueue<>();
  private final List<Member> members = new ArrayList<>();
  private final LambdaCodec codec = codec("the secret of this cluster");

  RemoteCluster(Path folder) {
    documents = FileDocuments.open(folder);
  }

  static LambdaCodec codec(String secret) {
    return new LambdaCodec(
        ClusterSecret.of(secret.getBytes(StandardCharsets.UTF_8)),
        TrustedClasses.packages("io.millrace.cluster.remote"));
  }

  VersionedDocuments documents() {
    return documents;
  }

  LambdaCodec codec() {
    return codec;
  }

  Member start(int workers) {
    return start(workers, this::lead);
  }

  Member start(int workers, RemoteWork work) {
    ClusterWork clusterWork = work.clusterWork(codec);
    Member member = Member.start(documents, workers, TERMS, clusterWork);
    members.add(member);
    return member;
  }

  /** Waits until leadership is lost, and gives its executor to the test. */
  private void lead(RemoteExecutor executor) throws InterruptedException {
    executors.add(executor);
    new CountDownLatch(1).await();
  }

  /** The executor of the next leader. */
  RemoteExecutor executor() throws InterruptedException {
    RemoteExecutor executor = executors.poll(30, TimeUnit.SECONDS);
    if (executor == null) {
      throw new AssertionError("nobody leads");
    }
    return executor;
  }

  /** Waits until a member has an idle worker, and returns it. */
  static RemoteMember find(RemoteExecutor executor, String token) throws InterruptedException {
    while (true) {
      for (RemoteMember member : executor.idleMembers()) {
        if (member.token().equals(token)) {
          return member;
        }
      }
      LockSupport.parkNanos(5_000_000);
    }
  }

  void stop(Member member) {
    members.remove(member);
    member.close();
  }

  @Override
  public void close() {
    List.copyOf(members).forEach(this::stop);
    documents.close();
  }
}
