package io.millrace.cluster.example;

import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.work.SupervisedWork;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileLockInterruptionException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Follows the files of a folder, which are the partitions of a topic, and appends each line that
 * comes to one of them to the output, once: supervised work. The topic is divided into as many
 * parts as there are workers; when members come or go all parts stop, and begin anew as others
 * where the files were left.
 */
public final class TopicExample implements SupervisedWork {
  /** How often files are looked at in which nothing was new. */
  private static final Duration LOOKS = Duration.ofMillis(100);

  private final VersionedDocuments documents;
  private final InputFolder input;
  private final FeedFile output;

  /**
   * The example.
   *
   * @param input the folder; plain files directly in it count, and only grow
   * @param output where the lines go; not in that folder
   */
  public TopicExample(VersionedDocuments documents, Path input, Path output) {
    this.documents = documents;
    this.input = new InputFolder(input);
    this.output = new FeedFile(output);
  }

  @Override
  public List<byte[]> divide(int workers) {
    return Division.tasks(input.names(), workers);
  }

  @Override
  public void run(byte[] task, Guard guard) throws IOException, InterruptedException {
    try {
      follow(Division.read(task), guard);
    } catch (ClosedByInterruptException | FileLockInterruptionException e) {
      Thread.interrupted();
      InterruptedException stopped = new InterruptedException("following no more");
      stopped.initCause(e);
      throw stopped;
    }
  }

  private void follow(Division division, Guard guard) throws IOException, InterruptedException {
    String token = Member.current().token();
    Map<String, FileFollower> followers = new HashMap<>();
    while (true) {
      boolean any = false;
      for (String name : input.names()) {
        if (division.has(name)) {
          FileFollower follower =
              followers.computeIfAbsent(
                  name, one -> new FileFollower(documents, input.path().resolve(one), output));
          any |= follower.step(guard, token);
        }
      }
      guard.check();
      if (!any) {
        Thread.sleep(LOOKS);
      }
    }
  }
}
