package io.millrace.examples.cluster;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.work.WindowedWork;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hashes each file of a folder once, including files that appear later. Documents {@code
 * finished/NAME} record the finished files, so that no leader assigns them again.
 */
public final class FilesExample implements WindowedWork {
  private static final Logger LOG = LoggerFactory.getLogger(FilesExample.class);
  private static final String FINISHED = "finished/";

  private final VersionedDocuments documents;
  private final InputFolder input;
  private final ResultFile output;
  private final Duration pace;
  private final Set<String> finished = ConcurrentHashMap.newKeySet();

  /**
   * The example.
   *
   * @param input the folder; only plain files directly in it count
   * @param output the output file, not in that folder
   * @param pace the minimum time for each file
   */
  public FilesExample(VersionedDocuments documents, Path input, Path output, Duration pace) {
    this.documents = documents;
    this.input = new InputFolder(input);
    this.output = new ResultFile(output);
    this.pace = pace;
  }

  @Override
  public List<byte[]> next(List<byte[]> outstanding, int max) {
    Set<String> given =
        outstanding.stream()
            .map(task -> new String(task, StandardCharsets.UTF_8))
            .collect(Collectors.toSet());
    List<byte[]> next = new ArrayList<>();
    for (String name : input.names()) {
      if (next.size() < max && !given.contains(name) && !isFinished(name)) {
        next.add(name.getBytes(StandardCharsets.UTF_8));
      }
    }
    return next;
  }

  private boolean isFinished(String name) {
    if (!finished.contains(name) && documents.get(key(name)).isPresent()) {
      finished.add(name);
    }
    return finished.contains(name);
  }

  @Override
  public void completed(byte[] task, Guard leader) {
    String name = new String(task, StandardCharsets.UTF_8);
    documents.put(key(name), Version.NONE, "{}");
    finished.add(name);
  }

  /** Encoded, because names of files may contain characters that keys must not contain. */
  private static String key(String name) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    return FINISHED + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /** Hashes a file and appends its line, which takes at least as long as the pace. */
  @Override
  public void run(byte[] task, Guard guard) throws IOException, InterruptedException {
    String name = new String(task, StandardCharsets.UTF_8);
    guard.check();
    Optional<String> hash = input.hash(name);
    if (hash.isEmpty()) {
      LOG.warn("{} is gone; no line is written for it", name);
      return;
    }
    Thread.sleep(pace);
    output.append(new ResultFile.Line(name, hash.get(), Member.current().token(), guard.fence()));
  }
}
