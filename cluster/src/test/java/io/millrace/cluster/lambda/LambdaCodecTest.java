package io.millrace.cluster.lambda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.partition.PartitionName;
import java.io.Serializable;
import java.math.BigDecimal;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class LambdaCodecTest {
  private final LambdaCodec codec = TestCodecs.codec();

  @Test
  void a_lambda_is_sent_with_everything_that_it_captures() throws Exception {
    SampleRecord cargo =
        new SampleRecord(
            "a",
            7,
            List.of("x", "y"),
            Map.of("now", Instant.ofEpochMilli(5)),
            SampleRecord.Kind.OTHER);
    long factor = 3;
    byte[] envelope =
        codec.sealLambda(
            TestCodecs.HERE, () -> cargo.name() + cargo.number() * factor + cargo.parts());
    LambdaCodec.SealedLambda sealed = codec.openLambda(envelope);
    assertThat(sealed.address()).isEqualTo(TestCodecs.HERE);
    assertThat(sealed.lambda().run()).isEqualTo("a21[x, y]");
  }

  @Test
  void values_and_collections_of_java_can_be_sent() {
    for (Object value : values()) {
      byte[] envelope = codec.sealResult(TestCodecs.HERE, value);
      assertThat(codec.openResult(TestCodecs.HERE, envelope)).as("%s", value).isEqualTo(value);
    }
    assertThat(codec.openResult(TestCodecs.HERE, codec.sealResult(TestCodecs.HERE, null))).isNull();
  }

  private static List<Object> values() {
    Map<String, Integer> map = new HashMap<>(Map.of("a", 1, "b", 2));
    List<Object> values = new ArrayList<>();
    Collections.addAll(values, "text", 'c', true, (byte) 1, (short) 2, 3, 4L, 5f, 6d);
    Collections.addAll(values, new BigDecimal("1.50"), UUID.randomUUID(), URI.create("http://h/"));
    Collections.addAll(values, Instant.EPOCH, Duration.ofDays(1), ZoneId.of("Europe/Berlin"));
    Collections.addAll(
        values, Locale.ROOT, SampleRecord.Kind.PLAIN, EnumSet.of(SampleRecord.Kind.PLAIN));
    Collections.addAll(values, map, new LinkedHashMap<>(map), new TreeMap<>(map), Map.of("a", 1));
    Collections.addAll(
        values, new EnumMap<>(Map.of(SampleRecord.Kind.OTHER, "o")), Map.copyOf(map));
    Collections.addAll(values, new HashSet<>(map.keySet()), new TreeSet<>(map.keySet()), Set.of());
    Collections.addAll(values, List.of(1, 2, 3), List.of(), Arrays.asList("a", null));
    Collections.addAll(values, Collections.unmodifiableMap(map), Collections.emptyList());
    Collections.addAll(values, new byte[] {1, 2}, new int[][] {{1}, {2}}, new String[] {"a"});
    Collections.addAll(values, new ArrayList<>(List.of(new ArrayDeque<>(List.of())).subList(0, 0)));
    Collections.addAll(values, Map.entry("a", 1).toString(), new TreeSet<>(Set.of("b", "a")));
    return values;
  }

  @Test
  void a_result_is_accepted_only_from_the_member_that_its_lambda_was_sent_to() {
    byte[] envelope = codec.sealResult(TestCodecs.HERE, "done");
    for (Address other :
        List.of(
            new Address(new PartitionName(7, 4), "member-a"),
            new Address(new PartitionName(8, 3), "member-a"),
            new Address(new PartitionName(7, 3), "member-b"))) {
      assertThatThrownBy(() -> codec.openResult(other, envelope))
          .isInstanceOf(RefusedLambdaException.class)
          .hasMessageStartingWith("it is from Address")
          .hasMessageContaining(", not from " + other);
    }
  }

  @Test
  void a_result_is_not_accepted_as_a_lambda_nor_a_lambda_as_a_result() {
    SerializableLambda<String> lambda = () -> "run";
    assertThatThrownBy(() -> codec.openLambda(codec.sealResult(TestCodecs.HERE, lambda)))
        .isInstanceOf(RefusedLambdaException.class)
        .hasMessage("it is a RESULT, not a LAMBDA");
    assertThatThrownBy(
            () -> codec.openResult(TestCodecs.HERE, codec.sealLambda(TestCodecs.HERE, lambda)))
        .isInstanceOf(RefusedLambdaException.class)
        .hasMessage("it is a LAMBDA, not a RESULT");
  }

  @Test
  void
      a_lambda_that_captures_something_not_serializable_is_refused_and_the_error_names_its_class() {
    Object lock = new Object();
    assertThatThrownBy(() -> codec.sealLambda(TestCodecs.HERE, lock::hashCode))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("class java.lang.Object")
        .hasMessageContaining("not serializable");
    assertThatThrownBy(() -> codec.sealLambda(TestCodecs.HERE, () -> codec.hashCode()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("class " + LambdaCodecTest.class.getName());
  }

  @Test
  void an_object_over_the_limit_is_refused_and_the_error_gives_its_size() {
    byte[] much = new byte[LambdaCodec.MAX_BYTES];
    assertThatThrownBy(() -> codec.sealLambda(TestCodecs.HERE, () -> much.length))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has up to 524288 bytes, not 52");
    assertThatThrownBy(() -> codec.sealResult(TestCodecs.HERE, much))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has up to 524288 bytes, not 52");
    byte[] almost = new byte[LambdaCodec.MAX_BYTES - 200];
    assertThat(codec.openResult(TestCodecs.HERE, codec.sealResult(TestCodecs.HERE, almost)))
        .isEqualTo(almost);
  }

  private record Chain(@Nullable Chain next) implements Serializable {}

  @Test
  void an_object_that_is_nested_too_deeply_to_be_serialized_is_refused() {
    Chain chain = new Chain(null);
    for (int i = 0; i < 200_000; i++) {
      chain = new Chain(chain);
    }
    Chain deep = chain;
    assertThatThrownBy(() -> codec.sealResult(TestCodecs.HERE, deep))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("it is nested too deeply");
  }
}
