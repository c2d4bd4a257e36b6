package io.millrace.examples.cluster;

import io.millrace.cluster.documents.DocumentsUnavailableException;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.partition.Generation;
import io.millrace.cluster.remote.ExecutionFuture;
import io.millrace.cluster.remote.RemoteExecutor;
import io.millrace.cluster.remote.RemoteMember;
import io.millrace.cluster.remote.RemoteWork;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An endless input: a folder of growing files, like the partitions of a topic. Each worker of each
 * member runs a lambda that follows its share of the files, including later ones, and appends their
 * lines to one file. When a member joins or leaves, all lambdas are cancelled and the files are
 * divided again; if another member becomes the leader, the lambdas end by themselves.
 *
 * <p>A document holds the offset of each file. The output refuses lines that it has already and
 * lines with a smaller fencing token than that of an earlier line of the same file, so it does not
 * matter whether a cancelled lambda still runs when the next one starts.
 */
public final class FeedExample implements RemoteWork {
  private static final Logger LOG = LoggerFactory.getLogger(FeedExample.class);
  private static final Duration LOOK = Duration.ofMillis(500);

  private final String input;
  private final String output;
  private final List<ExecutionFuture<?>> running = new CopyOnWriteArrayList<>();

  /**
   * The share of a lambda.
   *
   * @param generation the fence of the leader that divided the files
   * @param input the folder of all files
   * @param output the output file
   * @param number the number of the share, from 0
   * @param shares the number of shares
   */
  private record Share(long generation, String input, String output, int number, int shares)
      implements Serializable {
    boolean has(String name) {
      return Math.floorMod(name.hashCode(), shares) == number;
    }
  }

  /**
   * The example.
   *
   * @param input the folder; only plain files directly in it count
   * @param output the output file, not in that folder
   */
  public FeedExample(Path input, Path output) {
    this.input = input.toString();
    this.output = output.toString();
  }

  @Override
  public void lead(RemoteExecutor executor) throws InterruptedException {
    running.clear();
    while (true) {
      // Lambdas keep all workers busy, so an idle worker is new or its lambda was cancelled.
      executor.idleMembers();
      letGo();
      share(executor.idleMembers());
    }
  }

  private void share(List<RemoteMember> members) {
    int shares = members.stream().mapToInt(RemoteMember::workers).sum();
    LOG.info("Dividing the files among {} workers of {} members", shares, members.size());
    long generation = Member.guard().fence();
    int number = 0;
    for (RemoteMember member : members) {
      for (int i = 0; i < member.workers(); i++) {
        submit(member, new Share(generation, input, output, number++, shares));
      }
    }
  }

  private void submit(RemoteMember member, Share share) {
    running.add(
        member
            .submit(() -> follow(share))
            .onFailureOrTimeout(() -> {
              member.markDead();
              letGo();
            }));
  }

  /** Cancels all lambdas, so that the files are divided again. */
  private void letGo() {
    for (ExecutionFuture<?> one : running) {
      try {
        one.cancel();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
    running.clear();
  }

  /** Runs on the member until it is interrupted, or another leader divides the files again. */
  private static @Nullable Void follow(Share share) throws IOException, InterruptedException {
    Member member = Member.current();
    Guard guard = Member.guard();
    VersionedDocuments documents = member.context().documents();
    Map<String, FileFollower> followers = new HashMap<>();
    while (true) {
      try {
        if (Generation.current(documents) != share.generation()) {
          return null;
        }
        if (step(share, followers, member, guard)) {
          continue;
        }
      } catch (DocumentsUnavailableException e) {
        // The documents may become available again while the lock is held.
        guard.check();
        LOG.debug("The offsets of files cannot be read or written; retrying", e);
      }
      Thread.sleep(LOOK);
    }
  }

  /** Copies new lines of all files; returns whether there were any. */
  private static boolean step(
      Share share, Map<String, FileFollower> followers, Member member, Guard guard)
      throws IOException {
    InputFolder input = new InputFolder(Path.of(share.input()));
    FeedFile output = FeedFile.at(Path.of(share.output()));
    boolean more = false;
    for (String name : input.names()) {
      if (share.has(name)) {
        FileFollower follower =
            followers.computeIfAbsent(
                name,
                _ ->
                    new FileFollower(
                        member.context().documents(), input.path().resolve(name), output));
        more |= follower.step(guard, member.token());
      }
    }
    return more;
  }
}
