package io.millrace.cluster.remote;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.lambda.Address;
import io.millrace.cluster.lambda.ClusterSecret;
import io.millrace.cluster.lambda.LambdaCodec;
import io.millrace.cluster.lambda.TrustedClasses;
import io.millrace.cluster.lock.LockDocument;
import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.partition.PartitionName;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Which lambdas a member accepts and refuses. */
final class LambdaAdmissionTest {
  private static final PartitionName NAME = new PartitionName(7, 3);

  private final LambdaCodec codec = codec("the secret of this cluster");
  private final LambdaAdmission admission =
      new LambdaAdmission("us", envelope -> codec.openLambda(envelope).address());
  private final Logger logger = (Logger) LoggerFactory.getLogger(LambdaAdmission.class);
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @BeforeEach
  void listen() {
    log.start();
    logger.setLevel(Level.WARN);
    logger.addAppender(log);
  }

  @AfterEach
  void stopListening() {
    logger.detachAppender(log);
    logger.setLevel(null);
  }

  private static LambdaCodec codec(String secret) {
    return new LambdaCodec(
        ClusterSecret.of(secret.getBytes(StandardCharsets.UTF_8)),
        TrustedClasses.packages("io.millrace.cluster.remote"));
  }

  private static byte[] sealed(LambdaCodec by, PartitionName name, String member) {
    return by.sealLambda(new Address(name, member), () -> "ran");
  }

  private static Partition partition(PartitionName name, byte[] task) {
    String text = Base64.getEncoder().encodeToString(task);
    LockDocument lock = new LockDocument("", 0, 1000, LockDocument.Task.outstanding(text));
    VersionedDocument document = new VersionedDocument(name.key(), new Version("1"), "{}");
    return Partition.of(document, lock).orElseThrow();
  }

  private void refuses(PartitionName name, byte[] task, String why) {
    log.list.clear();
    Partition partition = partition(name, task);
    for (int look = 0; look < 3; look++) {
      assertThat(admission.admits(partition)).isFalse();
    }
    List<String> said = log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    assertThat(said).hasSize(1);
    assertThat(said.getFirst()).contains(name.key() + " is refused").contains(why);
  }

  @Test
  void a_lambda_with_the_right_signature_name_and_address_is_accepted_once() {
    Partition partition = partition(NAME, sealed(codec, NAME, "us"));
    assertThat(admission.admits(partition)).isTrue();
    assertThat(admission.admits(partition)).isTrue();
    assertThat(admission.begin(NAME)).isTrue();
    assertThat(admission.begin(NAME)).isFalse();
    refuses(NAME, partition.taskBytes(), "it was begun before");
  }

  @Test
  void a_lambda_for_another_member_is_ignored_without_a_log_message() {
    assertThat(admission.admits(partition(NAME, sealed(codec, NAME, "another")))).isFalse();
    assertThat(log.list).isEmpty();
  }

  @Test
  void unsigned_foreign_damaged_or_oversized_envelopes_are_refused_and_logged_once() {
    refuses(NAME, "no envelope at all".getBytes(StandardCharsets.UTF_8), "");
    refuses(new PartitionName(7, 4), sealed(codec("another cluster's own"), NAME, "us"), "");
    byte[] damaged = sealed(codec, NAME, "us");
    damaged[damaged.length - 1] ^= 1;
    refuses(new PartitionName(7, 5), damaged, "");
    refuses(new PartitionName(7, 6), new byte[LambdaCodec.MAX_BYTES + 1], "524289 bytes");
  }

  @Test
  void an_envelope_in_the_document_of_another_partition_is_refused() {
    byte[] envelope = sealed(codec, NAME, "us");
    refuses(new PartitionName(7, 4), envelope, "it was sealed as partition/7-3");
    refuses(new PartitionName(8, 3), envelope, "it was sealed as partition/7-3");
    assertThat(admission.admits(partition(NAME, envelope))).isTrue();
  }

  @Test
  void no_lambda_of_an_older_generation_is_accepted_after_a_newer_one_has_begun() {
    assertThat(admission.begin(new PartitionName(9, 1))).isTrue();
    refuses(NAME, sealed(codec, NAME, "us"), "it was begun before");
    assertThat(admission.begin(NAME)).isFalse();
    PartitionName next = new PartitionName(9, 2);
    assertThat(admission.admits(partition(next, sealed(codec, next, "us")))).isTrue();
  }
}
