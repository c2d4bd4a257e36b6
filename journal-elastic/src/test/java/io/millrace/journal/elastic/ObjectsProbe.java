package io.millrace.journal.elastic;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

/** What a bucket promises, tried once. */
final class ObjectsProbe {
  private ObjectsProbe() {}

  static void run(ElasticBucket bucket) throws Exception {
    bucket.prepare();
    bucket.check();
    byte[] large = new byte[9 << 20];
    large[large.length - 1] = 1;
    assertThat(bucket.create("log/2", large)).isTrue();
    assertThat(bucket.create("log/2", new byte[0])).isFalse();
    bucket.put("log/1", new byte[] {1});
    bucket.put("log/1", new byte[] {2});
    bucket.put("log-of-another", new byte[] {3});
    assertThat(bucket.getAll(List.of("log/1", "log/3", "log/2")))
        .containsExactly(new byte[] {2}, null, large);
    assertThat(bucket.list("log/", "", 10)).containsExactly("log/1", "log/2");
    assertThat(bucket.list("log/", "", 1)).containsExactly("log/1");
    assertThat(bucket.list("log/", "log/1", 10)).containsExactly("log/2");
    bucket.delete(List.of("log/1", "log/3"));
    assertThat(bucket.list("log", "", 10)).containsExactly("log-of-another", "log/2");
    assertThat(bucket.get("log/1")).isNull();
  }
}
