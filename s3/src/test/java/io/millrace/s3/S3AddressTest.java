package io.millrace.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class S3AddressTest {
  @Test
  void an_address_names_bucket_prefix_region_and_endpoint() {
    S3Address read =
        S3Address.at("s3://bucket/a/b/?region=eu-west-1&endpoint=https%3A%2F%2Fhost%3A9000");
    assertThat(read.bucket()).isEqualTo("bucket");
    assertThat(read.prefix()).isEqualTo("a/b");
    assertThat(read.region()).isEqualTo("eu-west-1");
    assertThat(read.endpoint()).hasToString("https://host:9000");
  }

  @Test
  void addresses_that_are_wrong_are_refused_by_name() {
    assertThatThrownBy(() -> S3Address.at("file:bucket")).hasMessageContaining("s3://");
    assertThatThrownBy(() -> S3Address.at("s3://Bucket")).hasMessageContaining("small letters");
    assertThatThrownBy(() -> S3Address.at("s3://bucket/a//b")).hasMessageContaining("prefix");
    assertThatThrownBy(() -> S3Address.at("s3://bucket?zone=1")).hasMessageContaining("not zone");
    assertThatThrownBy(() -> S3Address.at("s3://bucket?region="))
        .hasMessageContaining("without a value");
    assertThatThrownBy(() -> S3Address.at("s3://bucket?endpoint=ftp://host"))
        .hasMessageContaining("an endpoint is");
    assertThatThrownBy(() -> S3Address.at("s3://bucket").withKey("id", null))
        .hasMessageContaining("a secret");
  }

  @Test
  void the_secret_is_not_shown() {
    assertThat(S3Address.at("s3://bucket/a?endpoint=http://host:1").withKey("id", "secret"))
        .hasToString("s3://bucket/a at http://host:1");
  }
}
