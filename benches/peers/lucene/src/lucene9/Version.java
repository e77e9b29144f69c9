import java.io.IOException;
import org.apache.lucene.codecs.bloom.FuzzySet;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.util.FixedBitSet;

/** What Lucene 9, and 10 before its bulk reads, do in their own way. */
final class Version {
  static boolean filtered(String column) {
    return column.equals("ts") || column.startsWith("size") || column.equals("uni24");
  }

  /** A field with a skip index if this release has one: Lucene 10 has. */
  static Field skipIndexed(String name) {
    try {
      return (Field)
          NumericDocValuesField.class
              .getMethod("indexedField", String.class, long.class)
              .invoke(null, name, 0L);
    } catch (ReflectiveOperationException e) {
      return new NumericDocValuesField(name, 0L);
    }
  }

  static boolean hasBulk() {
    return false;
  }

  static void longValues(NumericDocValues values, int len, int[] docs, long[] out) {
    throw new UnsupportedOperationException();
  }

  static void ranges(
      Session session, String work, LeafReader leaf, String field, long low, long high, FixedBitSet bits) {}

  static void counts(Session session, String work, LeafReader leaf, String field, long low, long high) {}

  /** The sum of a document's ords, each with plus added. */
  static long ords(SortedSetDocValues values, long plus) throws IOException {
    long total = 0;
    for (int left = values.docValueCount(); left > 0; left--) {
      total += values.nextOrd() + plus;
    }
    return total;
  }

  /** A Bloom filter of so many ids, which about this share of the absent ones may pass. */
  static FuzzySet filter(int ids, float passing) {
    return FuzzySet.createOptimalSet(ids, passing);
  }

  private Version() {}
}
