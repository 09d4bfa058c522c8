// Loads an SDF file with sdformat and prints what it understood: the model's pose, then a line for each link with its name,
// mass, and centre of mass and moments in the model's axes.
#include <cstdio>
#include <sdf/sdf.hh>

int main(int, char **argv) {
  sdf::Root root;
  sdf::Errors errors = root.Load(argv[1]);
  for (const auto &error : errors) std::fprintf(stderr, "%s\n", error.Message().c_str());
  const sdf::Model *model = root.Model();
  if (!errors.empty() || model == nullptr) return 1;
  const auto &at = model->RawPose();
  std::printf("pose %.17g %.17g %.17g %.17g %.17g %.17g\n", at.Pos().X(), at.Pos().Y(), at.Pos().Z(), at.Rot().Roll(),
              at.Rot().Pitch(), at.Rot().Yaw());
  for (uint64_t k = 0; k < model->LinkCount(); ++k) {
    const sdf::Link *link = model->LinkByIndex(k);
    ignition::math::Pose3d place;
    if (!link->SemanticPose().Resolve(place, "__model__").empty()) return 2;
    const ignition::math::Inertiald inertial(link->Inertial().MassMatrix(), place * link->Inertial().Pose());
    const auto center = inertial.Pose().Pos();
    const auto moments = inertial.Moi();
    std::printf("%s %.17g %.17g %.17g %.17g", link->Name().c_str(), inertial.MassMatrix().Mass(), center.X(), center.Y(),
                center.Z());
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 3; ++column) std::printf(" %.17g", moments(row, column));
    std::printf(" %d\n", static_cast<int>(link->SensorCount()));
  }
  return 0;
}
